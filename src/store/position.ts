/** Where a page of a list, newest first, ended. The next page starts after it. */
export interface Position {
  created: number;
  id: string;
}
