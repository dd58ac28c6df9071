"""Clipped log-n, alone and after another extension."""

import torch

from extrap.extensions.chain import Chain
from extrap.extensions.log_n import ClippedLogN
from extrap.extensions.ntk import NTKMixed
from extrap.model.scheme import Shape
from extrap.schemes.log_n import LogN
from extrap.schemes.rope import RoPE
from tests.support.extension_case import close
from tests.support.scheme_case import around, at


def test_it_heats_as_the_clipped_scheme():
    shape = Shape(dim=8, heads=1, length=512)
    ours, scheme = ClippedLogN().extend(RoPE(shape)), LogN(shape, floor=1.0)
    close(ours.temperature(at(ours, 1024)), scheme.temperature(at(scheme, 1024)))


@torch.no_grad()
def test_chain_is_one_after_the_other():
    plain, x = around(RoPE(Shape(16, 2, 2, 16, 50))), torch.arange(50)[None] * 7 % 50
    chain = Chain(NTKMixed(4.0), ClippedLogN())
    close(chain(plain)(x), ClippedLogN()(NTKMixed(4.0)(plain))(x), 0)
    close(chain(plain)(x), NTKMixed(4.0)(ClippedLogN()(plain))(x), 1e-12)
    assert not torch.allclose(chain(plain)(x), NTKMixed(4.0)(plain)(x), atol=1e-6)
    assert chain.effective(10, 64) == 4
