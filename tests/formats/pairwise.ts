/**
 * Few rows in which every two values of any two columns stand together at least once. Rows are made greedily: each begins
 * with a pair that is still missing and takes, column by column, the value that covers most of what is missing.
 * @param sizes how many values each column has
 */
export function pairwise(sizes: readonly number[]): number[][] {
  const missing = new Set<string>();
  const key = (a: number, x: number, b: number, y: number) =>
    a < b ? `${a}.${x}.${b}.${y}` : `${b}.${y}.${a}.${x}`;
  for (let a = 0; a < sizes.length; a++) {
    for (let b = a + 1; b < sizes.length; b++) {
      for (let x = 0; x < sizes[a]; x++) for (let y = 0; y < sizes[b]; y++) missing.add(key(a, x, b, y));
    }
  }
  const rows: number[][] = [];
  while (missing.size > 0) {
    const [first] = missing;
    const [a, x, b, y] = first.split(".").map(Number);
    const row: number[] = [];
    row[a] = x;
    row[b] = y;
    const set = [a, b];
    for (let column = 0; column < sizes.length; column++) {
      if (row[column] !== undefined) continue;
      let best = rows.length % sizes[column];
      let most = -1;
      for (let offset = 0; offset < sizes[column]; offset++) {
        const value = (best + offset) % sizes[column];
        const covered = set.filter((other) => missing.has(key(column, value, other, row[other]))).length;
        if (covered > most) {
          most = covered;
          row[column] = value;
        }
      }
      best = row[column];
      set.push(column);
    }
    for (let i = 0; i < row.length; i++) {
      for (let j = i + 1; j < row.length; j++) missing.delete(key(i, row[i], j, row[j]));
    }
    rows.push(row);
  }
  return rows;
}
