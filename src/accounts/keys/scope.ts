/** Whose keys something sees and makes. */
export interface Scope {
  /** The person, as keys name the one they belong to; absent: all keys. */
  member?: string;
}
