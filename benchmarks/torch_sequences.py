"""Networks of sequences as one would write them by hand over torch.nn, for bare_pytorch.py.

Each computes its loss itself, so that torch.compile sees it whole.
"""

import torch
from torch import nn
from torch.nn import functional


class TextLSTM(nn.Module):
    """Says the next word after each."""

    def __init__(self, words=10_000, hidden=256, steps=32) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, hidden)
        self.lstm = nn.LSTM(hidden, hidden, 2, batch_first=True)
        self.words = nn.Linear(hidden, words)

    def forward(self, read, said):
        hidden, _ = self.lstm(self.embedding(read))
        logits = self.words(hidden.reshape(-1, hidden.shape[2]))
        return functional.cross_entropy(logits, said)


class Attention(nn.Module):
    """Of a sequence to itself: queries, keys and values in one product."""

    def __init__(self, width, heads, causal) -> None:
        super().__init__()
        self.every = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.heads = heads
        self.causal = causal

    def forward(self, x):
        rows, steps, width = x.shape
        parts = self.every(x).split(width, 2)
        query, key, value = (part.view(rows, steps, self.heads, -1).transpose(1, 2) for part in parts)
        seen = functional.scaled_dot_product_attention(query, key, value, is_causal=self.causal)
        return self.out(seen.transpose(1, 2).reshape(rows, steps, width))


class Layer(nn.Module):
    """Attention and two linear layers; norms come before both, or after each sum."""

    def __init__(self, width, heads, *, causal=False, form="none", epsilon=1e-5, after=False) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width, epsilon), nn.LayerNorm(width, epsilon)
        self.attention = Attention(width, heads, causal)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate=form), nn.Linear(4 * width, width))
        self.after = after

    def forward(self, x):
        if self.after:
            x = self.norm1(x + self.attention(x))
            return self.norm2(x + self.mlp(x))
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GPT2(nn.Module):
    def __init__(self, words=50_257, steps=1024, context=1024, layers=12, width=768, heads=12) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.positions = nn.Embedding(context, width)
        self.layers = nn.Sequential(*(Layer(width, heads, causal=True, form="tanh") for _ in range(layers)))
        self.norm = nn.LayerNorm(width)

    def forward(self, read, said):
        places = torch.arange(read.shape[1], device=read.device)
        x = self.norm(self.layers(self.words(read) + self.positions(places)))
        logits = functional.linear(x, self.words.weight)
        return functional.cross_entropy(logits.view(-1, logits.shape[2]), said)


class BERT(nn.Module):
    """With a head of two classes on the first token's vector."""

    def __init__(self, words=30_522, steps=128, context=512, layers=12, width=768, heads=12) -> None:
        super().__init__()
        self.words, self.segments = nn.Embedding(words, width), nn.Embedding(2, width)
        self.positions = nn.Embedding(context, width)
        self.norm = nn.LayerNorm(width, 1e-12)
        self.layers = nn.Sequential(*(Layer(width, heads, epsilon=1e-12, after=True) for _ in range(layers)))
        self.pooler = nn.Linear(width, width)
        self.head = nn.Linear(width, 2)

    def forward(self, tokens, segments, labels):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.norm(self.words(tokens) + self.segments(segments) + self.positions(places))
        pooled = torch.tanh(self.pooler(self.layers(x)[:, 0]))
        return functional.cross_entropy(self.head(pooled), labels)


class ViT(nn.Module):
    def __init__(self, layers=12, width=768, heads=12) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, 197, width) * 0.02)
        self.layers = nn.Sequential(*(Layer(width, heads, epsilon=1e-6) for _ in range(layers)))
        self.norm = nn.LayerNorm(width, 1e-6)
        self.head = nn.Linear(width, 1000)

    def forward(self, images, labels):
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), 1) + self.positions
        return functional.cross_entropy(self.head(self.norm(self.layers(x))[:, 0]), labels)
