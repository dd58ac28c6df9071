"""No positional encoding: the causal mask alone tells order. arXiv 2203.16634, 2305.19466.

l_ij = <q_i, k_j> / sqrt(D). A single causal layer cannot see the order of the tokens before the
last; two layers can. This file is the template for a new scheme: subclass Scheme, override the
hooks at which it acts, write the YAML.
"""

from extrap.model.scheme import Scheme


class NoPE(Scheme):
    """No positional encoding: the scheme overrides no hook and is defined at every position.

    Kind: none
    Past L: defined; attention dilutes as the text grows
    Source: arXiv 2305.19466
    """
