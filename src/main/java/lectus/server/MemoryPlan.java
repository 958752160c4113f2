package lectus.server;

import lectus.http.memory.ClientMemory;
import lectus.http.memory.MemoryAccount;

/**
 * How the heap is divided: everything whose size clients choose has its share here. What is not
 * given away, a fifth, is for the collector, for what the server needs itself, and for the pages
 * that readers are making. All figures are bytes.
 *
 * @param bodies the bodies of running requests, as JSON; what is made of them takes {@value
 *     #HEAP_OF_BODY} times as much in all
 * @param hotDocuments documents that were read lately
 * @param queuedWrites edits that wait for one of the write executors
 * @param queuedCommits transactions that wait to be committed
 * @param conflictHistory who wrote what since the oldest transaction that is still open
 * @param messages what WebSockets' clients have said and nobody has handled
 * @param pages rows of feeds, and answers, that wait for their clients
 * @param filters what live feeds have to match with
 * @param candidates which databases readers of many databases are about to read
 * @param glimpses what is kept of databases that such readers pass by
 * @param connections what connections take by themselves
 * @param longestBody the longest single body of a request
 */
public record MemoryPlan(
    long bodies,
    long hotDocuments,
    long queuedWrites,
    long queuedCommits,
    long conflictHistory,
    long messages,
    long pages,
    long filters,
    long candidates,
    long glimpses,
    long connections,
    long longestBody) {
  /** The body itself, and what may be made of it. */
  static final int HEAP_OF_BODY = 5;

  /** The heap is divided into so many parts. */
  private static final int PARTS = 64;

  /** What an idle connection takes, a WebSocket that listens included. */
  private static final int CONNECTION_BYTES = 16 << 10;

  /**
   * A page ends behind the row that fills it, which may be the largest document: its key-values,
   * its JSON in a buffer that grows, and a copy for the socket.
   */
  private static final int LARGEST_PAGE_BYTES = 24 << 20;

  /** This part of the heap is given to nobody. */
  private static final int SPARE_PART = 5;

  /** One for feeds, one for requests. */
  private static final int LEAST_READERS = 2;

  /** More of these would not make the store any faster. */
  private static final long ENOUGH_FOR_STORE = 64 << 20;

  /**
   * The plan for a heap.
   *
   * @param heap its greatest size
   * @param executors of writes
   */
  public static MemoryPlan of(long heap, int executors) {
    long part = heap / PARTS;
    return new MemoryPlan(
        4 * part,
        5 * part,
        Math.min(ENOUGH_FOR_STORE, 3 * part / executors),
        Math.min(ENOUGH_FOR_STORE, 2 * part),
        Math.min(ENOUGH_FOR_STORE, 2 * part),
        3 * part,
        6 * part,
        2 * part,
        2 * part,
        2 * part,
        4 * part,
        8 * part);
  }

  /** This plan with other shares, where an administrator chose them; 0: as they are. */
  public MemoryPlan with(long chosenBodies, long chosenHotDocuments, long chosenQueuedWrites) {
    return new MemoryPlan(
        chosenBodies > 0 ? chosenBodies : bodies,
        chosenHotDocuments > 0 ? chosenHotDocuments : hotDocuments,
        chosenQueuedWrites > 0 ? chosenQueuedWrites : queuedWrites,
        queuedCommits,
        conflictHistory,
        messages,
        pages,
        filters,
        candidates,
        glimpses,
        connections,
        longestBody);
  }

  /**
   * What all shares may take together.
   *
   * @param executors of writes
   */
  public long heap(int executors) {
    return HEAP_OF_BODY * bodies
        + hotDocuments
        + executors * queuedWrites
        + queuedCommits
        + conflictHistory
        + messages
        + pages
        + filters
        + candidates
        + glimpses
        + connections;
  }

  /** How many threads may each make the largest page at a time in a heap of this size. */
  public static int mostReaders(long heap) {
    return (int) Math.max(LEAST_READERS, heap / SPARE_PART / LARGEST_PAGE_BYTES);
  }

  /** How many connections there is memory for. */
  public int mostConnections() {
    return (int) Math.max(1, Math.min(Integer.MAX_VALUE, connections / CONNECTION_BYTES));
  }

  ClientMemory accounts() {
    return new ClientMemory(
        new MemoryAccount(bodies, "Too many large requests are running."),
        new MemoryAccount(messages, "Too many messages wait to be handled."),
        new MemoryAccount(pages, "Too many large answers wait for their clients."),
        new MemoryAccount(
            filters, "The filters of all clients take too much memory; come back later."));
  }
}
