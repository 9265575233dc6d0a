//! A model that a run has fitted, as a judge: `RUN:MODEL`.
//!
//! In: a run's folder and the name of one of its `[models]`. Out: a [`Judge`] that gives every episode the number that the run would.
//! Episodes of the same tokenizer are read as they were recorded; all others are laid out anew as the run's policy would read them.

use crate::policy::{Policy, SharedModel};
use crate::recipe::Recipe;
use crate::recipe_error::RecipeError;
use crate::stage_checks::hint;
use crate::{RunError, models};
use merit_core::{Components, Cost, End, Episode, Known, Message, Role, Segment, TokenId, TurnStop};
use merit_judge::{Answer, Judge, Verdict, compare_by_score};
use merit_rollout::ChatFormat;
use merit_store::RunFolder;
use std::path::Path;
use std::sync::Arc;

/// A model of a run, at work.
pub struct FittedJudge {
    id: String,
    chat: ChatFormat,
    model: SharedModel,
}

impl FittedJudge {
    /// The model of that name as it is in the newest checkpoint of the run, whose recipe is read against `components`.
    pub fn open(run: &Path, name: &str, components: &Components) -> Result<Self, RunError> {
        let folder = RunFolder::open_read_only(run)?;
        let recipe = Recipe::of_run(&folder, components)?;
        if !recipe.models.contains_key(name) {
            let hint = hint(name, recipe.models.keys().map(String::as_str));
            let why = format!("there is no `[models.{name}]`{hint}");
            let file = run.join("recipe.toml").display().to_string();
            return Err(RecipeError::Combination { file, why }.into());
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let restored = Policy::restore(&folder, &recipe, threads)?.ok_or_else(|| RunError::Checkpoint {
            why: "there is none yet; let the run go on for a while".into(),
        })?;
        let model = restored.models.get(name).cloned();
        let model = model.ok_or_else(|| RunError::NotFitted { model: name.to_owned() })?;
        let loss = models::losses(&recipe).get(name).map_or("", |loss| loss.name());
        let id = format!("{} {name} ({loss}, {} updates)", folder.info()?.recipe, model.lock().updates);
        Ok(Self { id, chat: restored.policy.chat().clone(), model })
    }

    /// The tokens in which the run's policy would have had the episode.
    fn tokens(&self, episode: &Episode) -> Result<Vec<TokenId>, String> {
        let segments = episode.transcript.segments();
        if segments.is_empty() {
            return Err("the episode has no transcript".to_owned());
        }
        if segments.iter().all(|segment| self.is_own(segment)) {
            return Ok(episode.transcript.tokens());
        }
        Ok(self.laid_out(episode))
    }

    /// The texts of an episode in this run's tokens, as a rollout lays them out. A turn that was cut, or ended by a stop string, has no
    /// token behind it that ends it.
    fn laid_out(&self, episode: &Episode) -> Vec<TokenId> {
        let (mut tokens, mut heard, mut turn): (Vec<TokenId>, Vec<Message>, u32) = Default::default();
        let observe = |tokens: &mut Vec<TokenId>, heard: &mut Vec<Message>, turn, hand_over| {
            for seen in self.chat.observe(tokens, &std::mem::take(heard), turn, hand_over) {
                tokens.extend(seen.tokens);
            }
        };
        for segment in episode.transcript.segments() {
            if segment.role != Role::Policy {
                heard.push(Message::new(segment.role, segment.text.clone()));
                continue;
            }
            observe(&mut tokens, &mut heard, turn, true);
            match episode.turns.get(segment.turn as usize).map(|turn| turn.stop) {
                Some(TurnStop::StopString | TurnStop::MaxTokens | TurnStop::ContextFull) => {
                    tokens.extend(self.chat.tokenizer().encode(&segment.text));
                }
                Some(TurnStop::EndToken | TurnStop::Unknown) | None => {
                    tokens.extend(self.chat.say(&segment.text, &[]).tokens);
                }
            }
            turn += 1;
        }
        if !heard.is_empty() {
            // Where a limit of ours cut it, the policy was to speak next.
            observe(&mut tokens, &mut heard, turn, matches!(episode.end, End::Truncated { .. }));
        }
        tokens
    }

    /// Whether the tokens of a segment say its text in this run's tokenizer. Observations have markers around it.
    fn is_own(&self, segment: &Segment) -> bool {
        if segment.known == Known::Text {
            return false;
        }
        let said = self.chat.shown(&segment.tokens);
        if segment.role == Role::Policy { said == segment.text } else { said.contains(&segment.text) }
    }
}

impl Judge for FittedJudge {
    fn id(&self) -> String {
        self.id.clone()
    }

    fn compare(&mut self, asked: &[(Arc<Episode>, Arc<Episode>)]) -> Vec<Answer> {
        compare_by_score(self, asked)
    }

    fn score(&mut self, episodes: &[Arc<Episode>]) -> Vec<Answer> {
        let tokens: Vec<Result<Vec<TokenId>, String>> = episodes.iter().map(|one| self.tokens(one)).collect();
        let read: Vec<&[TokenId]> = tokens.iter().flatten().map(Vec::as_slice).collect();
        let mut scores = match self.model.lock().score(&read) {
            Ok(scores) => scores.into_iter(),
            Err(error) => {
                let why = error.to_string();
                return episodes.iter().map(|_| Answer::of(Verdict::Failed { why: why.clone() })).collect();
            }
        };
        let answer = |tokens: Result<Vec<TokenId>, String>| {
            let judge_tokens = tokens.as_ref().map_or(0, Vec::len) as u64;
            let verdict = match tokens {
                Ok(_) => scores.next().filter(|value| value.is_finite()).map_or_else(
                    || Verdict::Unreadable { why: "it gave no number".to_owned() },
                    |value| Verdict::Score { value },
                ),
                Err(why) => Verdict::Failed { why },
            };
            let cost = Cost { judge_calls: 1, judge_tokens, ..Cost::default() };
            Answer { cost, ..Answer::of(verdict) }
        };
        tokens.into_iter().map(answer).collect()
    }
}
