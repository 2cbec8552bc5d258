/** Writes a fitted model in the format of `weights.json`, which ../model.ts reads. */
import { FEATURE_NAMES } from "../features.ts";
import type { DifficultyModel, PackedModel } from "../model.ts";

/** A model as JSON with numbers in base64; read by `unpack`. */
export function pack({ words, trees, sums, quantiles }: DifficultyModel): PackedModel {
  return {
    features: FEATURE_NAMES,
    words: {
      hashes: encode(words.hashes),
      idf: encode(words.idf),
      weights: encode(words.weights),
      scale: encode(words.scale),
      bias: encode(words.bias),
    },
    trees: {
      base: trees.base,
      roots: encode(trees.roots),
      feature: encode(trees.feature),
      threshold: encode(trees.threshold),
      left: encode(trees.left),
      right: encode(trees.right),
      leaf: encode(trees.leaf),
    },
    sums,
    quantiles,
  };
}

function encode(
  array: Uint32Array | Uint16Array | Uint8Array | Int16Array | Int8Array | Float32Array,
): string {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
