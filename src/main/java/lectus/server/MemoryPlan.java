package lectus.server;

import lectus.http.limits.BodyMemory;
import lectus.http.limits.ClientMemory;
import lectus.http.limits.ClientMemory.CompressionQuota;
import lectus.http.limits.MemoryAccount;

/**
 * The division of the heap: everything whose size clients choose has its share here. The rest, a
 * fifth, is for the garbage collector, the server's own needs, and the pages that readers are
 * making. All figures are bytes.
 *
 * @param bodies the bodies of running requests, as JSON; what they are parsed into takes {@value
 *     #HEAP_OF_BODY} times as much in all
 * @param hotDocuments documents that were read lately
 * @param queuedWrites edits that wait for one of the write executors
 * @param queuedCommits transactions that wait to be committed
 * @param conflictHistory the writes since the start of the oldest open transaction
 * @param pointReads values of single keys that the embedded store was asked for lately
 * @param messages of WebSockets' clients that were not handled yet
 * @param pages rows of feeds, and answers, that wait for their clients
 * @param filters of live feeds
 * @param scripts calls of functions that wait for a child process
 * @param views what steps read that bring views up to date
 * @param candidates the databases that readers of many databases are about to read, and rows of the
 *     updates log that they share
 * @param glimpses what is kept of databases that such readers pass by
 * @param replications what they hold of documents, and of large pages of changes
 * @param connections what connections take by themselves
 * @param longestBody the longest body of a request that is held as a whole
 */
public record MemoryPlan(
    long bodies,
    long hotDocuments,
    long queuedWrites,
    long queuedCommits,
    long conflictHistory,
    long pointReads,
    long messages,
    long pages,
    long filters,
    long scripts,
    long views,
    long candidates,
    long glimpses,
    long replications,
    long connections,
    long longestBody) {
  /** The body itself, and what it may be parsed into. */
  static final int HEAP_OF_BODY = 5;

  /** The number of parts that the heap is divided into. */
  private static final int PARTS = 64;

  /** Bytes of an idle connection, or of a WebSocket that only listens. */
  private static final int CONNECTION_BYTES = 16 << 10;

  /**
   * A page ends after the row that fills it, which may be the largest document: its key-values, its
   * JSON in a growing buffer, and a copy for the socket.
   */
  private static final int LARGEST_PAGE_BYTES = 24 << 20;

  /** More at once is of no use to a client. */
  private static final long LONGEST_BODY_BYTES = 128 << 20;

  /** Bytes of a replication that waits. */
  private static final int JOB_BYTES = 2 << 10;

  /** As a multiple of the share of replications. */
  private static final int PARTS_OF_JOBS = 4;

  /** The part of the heap that has no share: one in this many. */
  private static final int SPARE_PART = 5;

  /** One for feeds, one for requests. */
  private static final int MIN_READERS = 2;

  /** Bytes above which a share would not make the store any faster. */
  private static final long ENOUGH_FOR_STORE = 64 << 20;

  /** Bytes above which steps of views would not become any larger. */
  private static final long ENOUGH_FOR_VIEWS = 144 << 20;

  /**
   * Returns the plan for a heap.
   *
   * @param heap its greatest size
   * @param executors of writes
   * @param chosenBodies an administrator's choice of that share; 0: none
   * @param chosenHotDocuments the same
   */
  public static MemoryPlan of(
      long heap, int executors, long chosenBodies, long chosenHotDocuments) {
    long part = heap / PARTS;
    return new MemoryPlan(
        chosenBodies > 0 ? chosenBodies : 4 * part,
        chosenHotDocuments > 0 ? chosenHotDocuments : 5 * part / 2,
        Math.min(ENOUGH_FOR_STORE, 3 * part / executors),
        Math.min(ENOUGH_FOR_STORE, 2 * part),
        Math.min(ENOUGH_FOR_STORE, 2 * part),
        Math.min(ENOUGH_FOR_STORE, part / 2),
        5 * part / 2,
        6 * part,
        2 * part,
        part,
        Math.min(ENOUGH_FOR_VIEWS, 2 * part),
        5 * part / 4,
        5 * part / 4,
        part,
        4 * part,
        Math.min(LONGEST_BODY_BYTES, 8 * part));
  }

  /**
   * Returns the sum of all shares.
   *
   * @param executors of writes
   */
  public long heap(int executors) {
    return HEAP_OF_BODY * bodies
        + hotDocuments
        + executors * queuedWrites
        + queuedCommits
        + conflictHistory
        + pointReads
        + messages
        + pages
        + filters
        + scripts
        + views
        + candidates
        + glimpses
        + replications
        + connections;
  }

  /**
   * Returns how many threads may each make a page of the largest size at a time, in a heap of this
   * size.
   */
  public static int mostReaders(long heap) {
    return (int) Math.max(MIN_READERS, heap / SPARE_PART / LARGEST_PAGE_BYTES);
  }

  /**
   * Returns how many documents of replications there is memory for, in a part of the heap that has
   * no share.
   */
  int mostJobs() {
    return (int) Math.min(Integer.MAX_VALUE, PARTS_OF_JOBS * replications / JOB_BYTES);
  }

  public int mostConnections() {
    return (int) Math.max(1, Math.min(Integer.MAX_VALUE, connections / CONNECTION_BYTES));
  }

  /**
   * @param compressed how many answers may be compressed at a time
   */
  ClientMemory accounts(int compressed) {
    return new ClientMemory(
        new BodyMemory(bodies, "Too many large requests are running."),
        new MemoryAccount(messages, "Too many messages wait to be handled."),
        new MemoryAccount(pages, "Too many large answers wait for their clients."),
        new MemoryAccount(
            filters, "The filters of all clients take too much memory; come back later."),
        new CompressionQuota(compressed));
  }
}
