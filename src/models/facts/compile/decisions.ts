/** Price conflicts between the sources in which the package is not followed, with the reason. */
export interface Decision {
  take: "models.dev";
  because: string;
}

const LARGE_3 =
  "the package has the price of Mistral Large 2; since December 2025 the name stands for Large 3";
const SMALL_4 = "the package has the price of Small 3; since March 2026 the name stands for Small 4";
const V3 = "the package has the prices of before September 2025, when the hours without demand ended";
const SAFEGUARD = "the package matches the model with the larger one, Groq lists it at half of that";
const PHI = "the package has the prices of other hosts for Phi, Azure's page has these";
const ROUNDED = "the package has the price rounded";

/**
 * By preset and model. Without an entry the package is used: it is some months newer, and only it has
 * Bedrock's regional prices, separate image prices, and dated changes.
 */
export const DECISIONS: Readonly<Record<string, Decision>> = {
  "mistral mistral-large-latest": { take: "models.dev", because: LARGE_3 },
  "mistral mistral-small-latest": { take: "models.dev", because: SMALL_4 },
  "deepseek deepseek-chat": { take: "models.dev", because: V3 },
  "deepseek deepseek-reasoner": { take: "models.dev", because: V3 },
  "groq openai/gpt-oss-safeguard-20b": { take: "models.dev", because: SAFEGUARD },
  "azure phi-4": { take: "models.dev", because: PHI },
  "azure phi-4-reasoning-plus": { take: "models.dev", because: PHI },
  "azure phi-3-mini-128k-instruct": { take: "models.dev", because: PHI },
  "azure phi-3-medium-128k-instruct": { take: "models.dev", because: PHI },
  "azure o4-mini": { take: "models.dev", because: ROUNDED },
};
