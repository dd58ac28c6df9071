"""A trained model from the name of its run folder: its configuration and its weights are data."""

from extrap.model.gpt import GPT
from extrap.model.scheme import Scheme
from extrap.runs.build import build
from extrap.runs.checkpoint import load, trained_weights
from extrap.runs.folder import Named, read_json
from extrap.runs.fresh import shape_of
from extrap.runs.layout import RUNS
from extrap.runs.training.options import DTYPES, full_name
from extrap.utils.errors import UserError


def trained(name: str, option: str = "--run") -> GPT:
    """Returns the model of a finished run, in float64. option: names the run in messages. Raises
    UserError if no run has this name, or if its folder is damaged.
    """
    run = Named(name)
    if "/" in name or not run.trained:
        known = sorted(path.parent.name for path in RUNS.glob("*/weights.pt"))
        there = ", ".join(known) or "none yet"
        raise UserError(option, name, f"no trained run in {RUNS}", f"there are {there}")
    config = read_json(run.folder / "config.json")
    identity = config.get("identity") or {}
    try:
        model = identity["model"]
        length = identity["data"]["length"]
        vocab = len(load(run.weights)["embedding.weight"])
        shape = shape_of(model, length, vocab)
        precision = full_name(identity.get("precision"))
        dtype = DTYPES[precision]
    except (KeyError, TypeError) as error:
        raise UserError(run.folder, problem=f"does not describe a model ({error})") from None
    scheme = build(identity.get("scheme"), "scheme", kind=Scheme, shape=shape)
    decoder = build(model | {"_target_": "extrap.model.decoder.Decoder"}, "model")
    found = GPT(scheme, vocab, decoder)
    weights = trained_weights(run, found.to(dtype), dtype)
    found.load_state_dict(weights)
    return found.double().eval()
