package lectus.document.edit;

/** What happens to a request's other documents when one of them cannot be stored. */
public enum BulkMode {
  /** The others are stored. */
  EACH_ALONE,

  /** None is stored. */
  ATOMIC,

  /** CouchDB's former mode of this name: nothing is ever stored. */
  ALL_OR_NOTHING
}
