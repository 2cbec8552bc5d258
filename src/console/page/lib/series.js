/** What a chart draws. */

/**
 * @typedef {{ name: string, values: readonly (number | null)[], tone?: string }} Series `tone`: a custom property of the style, such as `--bad`
 */

/** What series are drawn in, one after the other. */
export const TONES = ["--series-1", "--series-2", "--series-3", "--series-4", "--series-5", "--series-6"];
