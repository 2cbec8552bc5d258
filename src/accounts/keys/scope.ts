/** The keys that an administration is limited to. */
export interface Scope {
  /** The person, by the name that keys use for their member; absent: all keys. */
  member?: string;
}
