package lectus.config;

/** How many threads work, and what may wait for them. */
public final class WorkerKeys {
  static final KeySection SECTION = new KeySection("Threads and queues");

  public static final ConfigurationKey<Integer> READERS =
      SECTION.number(
          "workers.readers",
          0,
          0,
          1_024,
          """
          Threads that read the store; feeds use at most half of them. Each may be
          making a page of 24 MB. 0: two for each core, but no more than one for each
          120 MB of the heap, and at least two.
          """);

  public static final ConfigurationKey<Integer> EXECUTORS =
      SECTION.number(
          "workers.executors",
          0,
          0,
          1_024,
          """
          Threads that run writing transactions. 0: one for each core.
          """);

  public static final ConfigurationKey<Integer> JOB_TASKS =
      SECTION.number(
          "workers.job-tasks",
          4,
          1,
          64,
          """
          Changes shards that this server goes through at a time to build indexes. They
          are shared with the other servers, and let requests go first.
          """);

  public static final ConfigurationKey<Integer> QUEUE_EDITS =
      SECTION.number(
          "write-queue.edits",
          10_000,
          1,
          1_000_000,
          """
          How many edits may wait for one of the threads that run writing transactions,
          including those on their way into the store. Beyond that, writes are answered
          503.
          """);

  public static final ConfigurationKey<Integer> QUEUE_BYTES =
      SECTION.number(
          "write-queue.bytes",
          0,
          0,
          1 << 30,
          """
          How much memory the edits that wait for one such thread may use, in bytes. 0:
          all these queues together have 3/64 of the heap, and each at most 64 MB.
          """);

  public static final ConfigurationKey<Integer> BATCH_EDITS =
      SECTION.number(
          "write-batch.edits",
          64,
          1,
          1_000,
          """
          How many edits one transaction takes from its queue at most. A part of a
          _bulk_docs request may have four times as many while hardly anything else
          waits.
          """);

  public static final ConfigurationKey<Integer> BATCH_BYTES =
      SECTION.number(
          "write-batch.bytes",
          1 << 20,
          1 << 10,
          4 << 20,
          """
          How much memory the edits of one transaction may use, in bytes.
          """);

  private WorkerKeys() {}
}
