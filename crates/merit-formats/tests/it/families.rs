//! Every family in both formats: what was written is what is read, and both formats show the same.

use crate::support;

use crate::support::{all_tiny, weights};
use merit_formats::{
    Encoding, Format, GgufExtras, HfExtras, HfOptions, ModelFiles, Special, TensorRole, expected_tensors,
    save_gguf, save_hf,
};

static NO_EXTRAS: Special = Special { bos: None, eos: Vec::new(), padding: None, unknown: None };

fn extras() -> HfExtras<'static> {
    HfExtras { tokenizer_json: None, chat_template: None, special: &NO_EXTRAS }
}

#[test]
fn both_formats_give_the_shape_and_the_weights_that_were_saved() {
    let folder = tempfile::tempdir().unwrap();
    for (name, config) in all_tiny() {
        let hf = folder.path().join(name);
        let gguf = folder.path().join(format!("{name}.gguf"));
        save_hf(&hf, &config, weights(&config), &extras(), HfOptions::default()).unwrap();
        save_gguf(&gguf, &config, weights(&config), &GgufExtras::default(), Encoding::F32).unwrap();
        let opened = [ModelFiles::open(&hf).unwrap(), ModelFiles::open(&gguf).unwrap()];
        assert_eq!(opened.each_ref().map(ModelFiles::format), [Format::Safetensors, Format::Gguf]);
        for files in &opened {
            assert_eq!(files.config(), &config, "{name}");
            for (given, read) in weights(&config).into_iter().zip(files.named_tensors()) {
                let (given, read) = (given.unwrap(), read.unwrap());
                assert_eq!((&given.name, &given.shape), (&read.name, &read.shape));
                let near = given.values.iter().zip(read.values.iter()).all(|(a, b)| (a - b).abs() <= 1e-7);
                assert!(near, "{name}: {} differs in {:?}", given.name, files.format());
            }
            assert_eq!(files.describe().unread_settings, Vec::<String>::new(), "{name}");
        }
    }
}

#[test]
fn gemma_gains_multiply_as_they_are_whatever_the_file_holds() {
    let folder = tempfile::tempdir().unwrap();
    let config = support::tiny(merit_formats::Family::Gemma3);
    save_hf(folder.path().join("m"), &config, weights(&config), &extras(), HfOptions::default()).unwrap();
    let gguf = folder.path().join("m.gguf");
    save_gguf(&gguf, &config, weights(&config), &GgufExtras::default(), Encoding::F32).unwrap();
    let name = "model.layers.1.self_attn.q_norm.weight";
    let [hf, gguf] = [folder.path().join("m"), gguf].map(|path| ModelFiles::open(path).unwrap());
    assert_eq!((hf.gain_offset(), gguf.gain_offset()), (1.0, 0.0));
    // The gain of seed s, index 0 is 1 + 0.2 noise; the folder holds that less 1.
    let gain = gguf.values(name).unwrap();
    assert!((hf.values(name).unwrap()[0] - (gain[0] - 1.0)).abs() < 1e-7);
    assert!((hf.gain(name).unwrap()[0] - gain[0]).abs() < 1e-7);
    assert_eq!(gguf.gain(name).unwrap(), gain);
}

#[test]
fn smaller_encodings_lose_no_more_than_their_step() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.gguf");
    let config = support::tiny(merit_formats::Family::Llama);
    // Values reach 0.3: half a step is 2^-13 in half precision, 2^-10 in bfloat16, 0.3 / 254 in bytes.
    for (encoding, loss) in [(Encoding::F16, 1.3e-4), (Encoding::Bf16, 1e-3), (Encoding::Q8_0, 1.3e-3)] {
        save_gguf(&path, &config, weights(&config), &GgufExtras::default(), encoding).unwrap();
        let files = ModelFiles::open(&path).unwrap();
        let mut worst = 0.0_f32;
        for given in weights(&config) {
            let given = given.unwrap();
            let view = files.tensor(&given.name).unwrap();
            let pairs = view.to_f32().into_iter().zip(given.values.iter());
            worst = pairs.fold(worst, |worst, (a, b)| worst.max((a - b).abs()));
        }
        assert!(worst > 0.0 && worst <= loss, "{encoding}: {worst}");
        let shares = files.describe().encodings;
        assert_eq!((shares[0].encoding, shares[1].encoding), (encoding, Encoding::F32));
    }
}

#[test]
fn rows_of_a_view_are_the_rows_of_the_matrix() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.gguf");
    let config = support::tiny(merit_formats::Family::Llama);
    save_gguf(&path, &config, weights(&config), &GgufExtras::default(), Encoding::Q8_0).unwrap();
    let files = ModelFiles::open(&path).unwrap();
    let view = files.tensor("model.layers.2.self_attn.k_proj.weight").unwrap();
    assert_eq!((view.rows(), view.columns(), view.row_bytes()), (32, 64, 68));
    let all = view.to_f32();
    for row in 0..view.rows() {
        let mut values = vec![0.0; 64];
        view.encoding.decode(view.row(row).unwrap(), &mut values).unwrap();
        assert_eq!(values, all[64 * row..64 * row + 64]);
    }
    assert_eq!(view.row(32), None);
    assert_eq!(view.row(usize::MAX), None);
    assert!(
        files.tensor("model.layers.4.self_attn.k_proj.weight").unwrap_err().to_string().contains("not part")
    );
}

#[test]
fn the_expected_tensors_are_all_the_parameters() {
    for (name, config) in all_tiny() {
        let tensors = expected_tensors(&config);
        let values: usize = tensors.iter().map(|tensor| tensor.shape.iter().product::<usize>()).sum();
        assert_eq!(values, config.parameters(), "{name}");
        let gains = tensors.iter().filter(|tensor| tensor.role == TensorRole::Gain).count();
        let per_layer =
            if config.style.post_norms { 4 } else { 2 } + if config.style.qk_norm { 2 } else { 0 };
        assert_eq!(gains, 1 + per_layer * config.layers, "{name}");
    }
}
