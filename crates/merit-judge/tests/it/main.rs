mod evolving;
mod judging;
mod made;
