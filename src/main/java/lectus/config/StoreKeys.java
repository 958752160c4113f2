package lectus.config;

import java.util.List;
import lectus.store.Store;

/** Where data is kept, and what the embedded store takes for it. */
public final class StoreKeys {
  static final KeySection SECTION = new KeySection("Where data is kept");

  public static final ConfigurationKey<String> STORE =
      SECTION.key(
          "store",
          ValueType.oneOf(List.of("embedded", "foundationdb")),
          "embedded",
          """
          embedded: data is in the folder that data names. foundationdb: data is in the
          cluster that cluster-file names.
          """);

  public static final ConfigurationKey<String> DATA =
      SECTION.key("data", ValueType.TEXT, "data", "The folder of the embedded store.");

  public static final ConfigurationKey<Long> STORE_CACHE_BYTES =
      SECTION.chosenNumber(
          "store.cache-bytes",
          16L << 20,
          1L << 40,
          """
          How much memory the embedded store uses in addition to the heap, in bytes: for
          memtables, indexes, and stored data that was read. 0: half as much as the heap
          and at least 192 MB, but no more than a third of what the heap leaves of the
          machine's (or the container's) memory, unless that is less than 64 MB.
          """);

  public static final ConfigurationKey<Long> STORE_MEMTABLE_BYTES =
      SECTION.chosenNumber(
          "store.memtable-bytes",
          1L << 20,
          1L << 30,
          """
          The size at which a memtable is written out, in bytes: at most a quarter of
          store.cache-bytes. Larger memtables wear the disk less, but a start after a
          crash takes longer. Up to three of them are in memory. 0: 3/16 of
          store.cache-bytes, at most 128 MB.
          """);

  public static final ConfigurationKey<Integer> STORE_RESERVED_BYTES =
      SECTION.number(
          "store.reserved-bytes",
          0,
          0,
          Integer.MAX_VALUE,
          """
          How much of the disk the embedded store keeps free, in bytes. With less,
          writes are answered 507 until there is a quarter more than this. Databases can
          still be deleted, which frees space, down to a quarter of this. 0: a twentieth
          of the disk, at most 512 MB; on a small disk two memtables, at most a quarter
          of it.
          """);

  public static final ConfigurationKey<String> CLUSTER_FILE =
      SECTION.key(
          "cluster-file",
          ValueType.TEXT,
          "",
          "FoundationDB's cluster file. Required with store = foundationdb.");

  public static final ConfigurationKey<List<String>> DIRECTORY =
      SECTION.key(
          "directory",
          ValueType.PATH,
          String.join("/", Store.DEFAULT_DIRECTORY),
          """
          Where in the cluster data is kept: a path of FoundationDB's directory layer.
          Servers with the same directory serve the same databases.
          """);

  private StoreKeys() {}
}
