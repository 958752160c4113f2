package lectus.database;

import com.apple.foundationdb.Range;
import lectus.json.TupleWriter;

/**
 * The subspaces below the prefix of one database; the number is the first element of their keys.
 * Numbers are stored, so they never change and are never reused.
 */
public enum DatabaseSubspace {
  /** Configuration, the version key, the shard topology (RFC 018). */
  CONFIG(0),
  /** Counters kept by atomic addition. */
  STATISTICS(1),
  /** Edit branches (RFC 001). */
  REVISIONS(2),
  /** Bodies of documents (RFC 004). */
  DOCUMENTS(3),
  /** Live documents in id order. */
  ALL_DOCS(4),
  /** Documents that do not replicate. */
  LOCAL_DOCS(5),
  /** The changes index without shards, as databases before RFC 018 have it. */
  CHANGES_DEPRECATED(6),
  /** The changes index, by shard (RFC 003, RFC 018). */
  CHANGES(7),
  /** Design documents that ask for every write to be validated. */
  VALIDATORS(8),
  /** Contents of attachments, and which leaves show them. */
  ATTACHMENTS(9),
  /** The definitions of indexes and stored feeds. */
  DERIVED(10),
  /** Their rows, and the documents that they could not take. */
  DERIVED_ROWS(11),
  /** What was purged lately. */
  PURGES(13),
  /** How long tombstones are kept. */
  AUTO_PURGE(14),
  /** How far jobs have come, by changes shard. */
  JOB_TASKS(20),
  /** Which number an index or a stored feed was given last, and when feeds were removed. */
  NUMBERS(21),
  /** Deleted documents. */
  DELETED_DOCS(22),
  /** Documents that left the changes index without an entry, for those who follow it. */
  GONE(23),
  /** Indexes of views, and how far each is. */
  VIEWS(24),
  /** Their rows. */
  VIEW_ROWS(25);

  private final int number;

  DatabaseSubspace(int number) {
    this.number = number;
  }

  public Range range(byte[] databasePrefix) {
    return Range.startsWith(key(databasePrefix).toBytes());
  }

  public TupleWriter key(byte[] databasePrefix) {
    return new TupleWriter(databasePrefix).integer(number);
  }
}
