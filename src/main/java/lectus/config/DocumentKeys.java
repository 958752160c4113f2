package lectus.config;

import java.util.List;
import java.util.stream.Stream;
import lectus.attachment.AttachmentIntake.AttachmentSettings;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.json.JsonLimits;

/** What documents may be. */
public final class DocumentKeys {
  static final KeySection SECTION = new KeySection("Documents");

  /** A hundred years. */
  private static final long MAX_KEEP_DELETED_SECONDS = 100L * 365 * 86_400;

  /** The greatest value of {@link #KEEP_DELETED_SECONDS}, as it is configured. */
  public static final String KEEP_DELETED_LONGEST = Long.toString(MAX_KEEP_DELETED_SECONDS);

  public static final ConfigurationKey<String> DOCUMENT_LIMITS =
      SECTION.key(
          "documents.limits",
          ValueType.oneOf(List.of("couchdb", "rfc004")),
          "couchdb",
          """
          The limits of a document. couchdb: up to 8000000 bytes of JSON, even in a
          single string. rfc004: up to 1000000 bytes, and no string of more than 100 kB,
          as the RFC of document storage proposes.
          """);

  public static final ConfigurationKey<String> LAYOUT =
      SECTION.key(
          "documents.layout",
          ValueType.oneOf(Stream.of(BodyLayout.values()).map(BodyLayout::text).toList()),
          BodyLayout.INLINE.text(),
          """
          How new databases store documents, unless PUT /{db}?layout= says otherwise.
          inline: those of up to 8 kB in one row each. rfc004: each value in a row of
          its own, as the RFC of document storage says, in documents of up to 1000000
          bytes.
          """);

  public static final ConfigurationKey<Long> KEEP_DELETED_SECONDS =
      SECTION.key(
          "databases.keep-deleted-seconds",
          ValueType.longNumber(0, MAX_KEEP_DELETED_SECONDS),
          "0",
          """
          For how many seconds a deleted database is kept: /_deleted_dbs lists it, and
          brings it back. Its space is free afterwards. 0: it is gone at once.
          """);

  public static final ConfigurationKey<Integer> MAX_DOCUMENT_BYTES =
      SECTION.number(
          "documents.max-bytes",
          0,
          0,
          JsonLimits.MAX_DOCUMENT_BYTES,
          """
          Longest document, in bytes of JSON. A longer one is answered 413. 0: the limit
          of documents.limits.
          """);

  public static final ConfigurationKey<Boolean> IGNORE_VALIDATION =
      SECTION.flag(
          "documents.ignore-validate-doc-update",
          false,
          """
          With true, everything is written without asking the validate_doc_update of
          design documents.
          """);

  public static final ConfigurationKey<Integer> HOT_DOCUMENT_BYTES =
      SECTION.number(
          "documents.cache-bytes",
          0,
          0,
          Integer.MAX_VALUE,
          """
          How much memory the server uses to keep documents that were read lately, in
          bytes. 0: 7/128 of the heap.
          """);

  public static final ConfigurationKey<Long> MAX_ATTACHMENT_BYTES =
      SECTION.key(
          "attachments.max-bytes",
          ValueType.longNumber(0, Long.MAX_VALUE),
          Long.toString(AttachmentSettings.DEFAULT_MOST_BYTES),
          "Longest attachment, in bytes. A longer one is answered 413.");

  public static final ConfigurationKey<Integer> COMPRESSION_LEVEL =
      SECTION.number(
          "attachments.compression-level",
          AttachmentSettings.COMPRESSION_LEVEL,
          0,
          9,
          """
          How much attachments of the types below are compressed: from 1, the fastest,
          to 9. 0: not at all.
          """);

  public static final ConfigurationKey<List<String>> COMPRESSED_TYPES =
      SECTION.key(
          "attachments.compressible-types",
          ValueType.WORDS,
          String.join(",", AttachmentSettings.COMPRESSED_TYPES),
          """
          Types of attachments that are compressed, separated by commas; * stands for
          anything.
          """);

  private DocumentKeys() {}
}
