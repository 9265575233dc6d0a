fn main() {
    let args: Vec<String> = std::env::args().collect();
    let sets: Vec<(String, String)> = args[3..]
        .iter()
        .map(|a| {
            let (k, v) = a.split_once('=').unwrap();
            (k.into(), v.into())
        })
        .collect();
    let recipe = merit_run::shipped::load(&args[1]).unwrap().with(&sets).unwrap();
    let dir = format!("/tmp/probe/{}", args[2]);
    let _ = std::fs::remove_dir_all(&dir);
    let info = merit_store::RunInfo {
        recipe: recipe.name.clone(),
        recipe_hash: recipe.hash(),
        seed: 1,
        version: "0".into(),
        started_ms: 0,
    };
    let mut folder = merit_store::RunFolder::create(dir.as_ref(), &recipe.to_toml(), &info).unwrap();
    let t = std::time::Instant::now();
    let options = merit_run::Options {
        seed: args[2].parse().unwrap(),
        threads: std::env::var("T").map_or(2, |t| t.parse().unwrap()),
        interrupt: Default::default(),
    };
    let done = merit_run::train(&recipe, &mut folder, &options, &mut |e| {
        println!("{:.1} {}", t.elapsed().as_secs_f64(), serde_json::to_string(&e).unwrap())
    });
    println!("{:.1} {}", t.elapsed().as_secs_f64(), serde_json::to_string(&done.unwrap()).unwrap());
}
