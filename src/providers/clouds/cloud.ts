/**
 * What a cloud is: one provider at which each API has an address of its own, and may want its requests and frame its answers
 * in a way of its own.
 */
import type { ProviderApi } from "../apis/mod.ts";

export interface Cloud {
  /** Equal for two that call the same place. */
  readonly identity: string;
  /** Names of the APIs that it has. */
  readonly apis: readonly string[];
  /**
   * An API as the cloud has it, the same object for all models that are called alike.
   * @param name undefined: the one that the provider names, else the usual one for the model
   */
  api(name: string | undefined, model: string): ProviderApi;
}
