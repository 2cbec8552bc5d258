/**
 * Ridge regression over sparse rows: minimises |Xw + b − y|² + alpha·|w|² by conjugate gradients. Columns are
 * centred implicitly, so the intercept is not penalised and rows stay sparse.
 */

export interface SparseRow {
  index: Uint32Array;
  value: Float64Array;
}

export interface RegressionLine {
  weights: Float64Array;
  bias: number;
}

/**
 * Ridge regression by conjugate gradients.
 *
 * @param alpha strength of the penalty
 */
export function ridge(
  rows: readonly SparseRow[],
  y: readonly number[],
  columns: number,
  alpha: number,
): RegressionLine {
  const n = rows.length;
  const mean = new Float64Array(columns);
  for (const { index, value } of rows) for (let k = 0; k < index.length; k++) mean[index[k]] += value[k] / n;
  const yMean = y.reduce((sum, v) => sum + v, 0) / n;

  const times = (w: Float64Array): Float64Array => {
    const shift = dot(mean, w);
    const out = new Float64Array(n);
    for (let i = 0; i < n; i++) out[i] = dotRow(rows[i], w) - shift;
    return out;
  };
  const timesTransposed = (r: Float64Array): Float64Array => {
    const out = new Float64Array(columns);
    let total = 0;
    for (let i = 0; i < n; i++) {
      const { index, value } = rows[i];
      total += r[i];
      for (let k = 0; k < index.length; k++) out[index[k]] += value[k] * r[i];
    }
    for (let j = 0; j < columns; j++) out[j] -= mean[j] * total;
    return out;
  };

  const weights = new Float64Array(columns);
  const residual = timesTransposed(Float64Array.from(y, (v) => v - yMean));
  const direction = residual.slice();
  let size = dot(residual, residual);
  const enough = size * 1e-8;
  for (let step = 0; step < 200 && size > enough; step++) {
    const image = timesTransposed(times(direction));
    for (let j = 0; j < columns; j++) image[j] += alpha * direction[j];
    const along = size / dot(direction, image);
    for (let j = 0; j < columns; j++) {
      weights[j] += along * direction[j];
      residual[j] -= along * image[j];
    }
    const next = dot(residual, residual);
    for (let j = 0; j < columns; j++) direction[j] = residual[j] + next / size * direction[j];
    size = next;
  }
  return { weights, bias: yMean - dot(mean, weights) };
}

/** The scalar product of a sparse row and weights. */
export function dotRow({ index, value }: SparseRow, w: Float64Array): number {
  let sum = 0;
  for (let k = 0; k < index.length; k++) sum += value[k] * w[index[k]];
  return sum;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}
