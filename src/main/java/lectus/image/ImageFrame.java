package lectus.image;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.fasterxml.jackson.core.JsonToken;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import lectus.attachment.AttachmentList;
import lectus.attachment.ContentId;
import lectus.attachment.Md5;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.document.RevisionMetadata;
import lectus.document.StoredBody;
import lectus.document.edit.RestoredCheckpoint;
import lectus.json.ExplodedBody;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.json.JsonExploder;
import lectus.json.JsonInput;
import lectus.json.JsonLimits;
import lectus.json.MalformedTupleException;
import lectus.json.PackedLeaves;
import lectus.json.StoredFormat;
import lectus.json.TupleReader;
import lectus.json.TupleWriter;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;

/**
 * A frame of an image: its type, and a payload that is a tuple, or a tuple and bytes.
 *
 * <pre>
 *  1 header      (version, database, instance, Incarnation, seconds since 1970 at its creation,
 *                seconds since 1970 when the image was begun[, Sequence since])
 *  2 settings    (key, value, …): rows of the configuration, see docs/image.md
 *  3 document    (doc id, Sequence, number of leaves, whether departures follow)
 *  4 leaf        (deleted, position, hash, hash of an ancestor…, nil, attachments, nil, form) ‖ body
 *  5 departures  (key, value, …): rows of stored feeds that the document has left
 *  6 abandoned   (): the document or the content is not continued
 *  7 gone        (doc id, Sequence)
 *  8 local       (doc id, number of the revision, form) ‖ body, or (doc id): it is deleted
 *  9 content     (SHA-256, MD5, length, length when decompressed or nil)
 * 10 chunk       bytes of the content
 * 11 purges      (key, value, …): rows of the history of purges
 * 12 end         (Sequence, number of frames, of documents, of contents, SHA-256)
 * 13 reached     bytes by which its reader knows where it is; of databases that move alone
 * </pre>
 *
 * Keys are those of the store without the prefix of their database, and values have the formats of
 * their rows. The form of a body is 0 if there is none, 1 for leaves as in {@link PackedLeaves}, 2
 * for its members as JSON without the braces.
 */
public sealed interface ImageFrame {
  /** The version of images that this version writes. */
  int VERSION = 1;

  /** The types. */
  enum Type {
    HEADER(1),
    SETTINGS(2),
    DOCUMENT(3),
    LEAF(4),
    DEPARTURES(5),
    ABANDONED(6),
    GONE(7),
    LOCAL(8),
    CONTENT(9),
    CHUNK(0xa),
    PURGES(0xb),
    END(0xc),
    REACHED(0xd);

    private final int number;

    Type(int number) {
      this.number = number;
    }

    int number() {
      return number;
    }

    private static Type numbered(int number) {
      for (Type type : values()) {
        if (type.number == number) {
          return type;
        }
      }
      throw StoredFormat.newer("A frame of an image", number, REACHED.number);
    }
  }

  Type type();

  /** Writes the payload. */
  void writeTo(TupleWriter payload);

  /**
   * Begins an image, or an increment of one.
   *
   * @param createdAtSeconds of the database
   * @param begunAtSeconds of the image
   * @param since where an increment begins; empty of a whole image
   */
  record Header(
      String database,
      InstanceId instance,
      int incarnation,
      long createdAtSeconds,
      long begunAtSeconds,
      Optional<Sequence> since)
      implements ImageFrame {
    private static final StoredFormat FORMAT = new StoredFormat(VERSION, "The image of a database");

    @Override
    public Type type() {
      return Type.HEADER;
    }

    @Override
    public void writeTo(TupleWriter payload) {
      payload.integer(VERSION).string(database).string(instance.hex()).integer(incarnation);
      payload.integer(createdAtSeconds).integer(begunAtSeconds);
      since.ifPresent(it -> it.writeTo(payload));
    }

    private static Header read(TupleReader it) {
      return new Header(
          it.string(),
          new InstanceId(it.string()),
          it.smallInteger(),
          it.integer(),
          it.integer(),
          it.hasNext() ? Optional.of(Sequence.readFrom(it)) : Optional.empty());
    }
  }

  /** The whole configuration; the last one counts. */
  record Settings(List<KeyValue> rows) implements Rows {
    @Override
    public Type type() {
      return Type.SETTINGS;
    }
  }

  /**
   * Begins a document, whose leaves follow, the winner first. It takes the place of what there was
   * of it.
   */
  record Document(String id, Sequence sequence, int leaves, boolean hasDepartures)
      implements ImageFrame {
    @Override
    public Type type() {
      return Type.DOCUMENT;
    }

    @Override
    public void writeTo(TupleWriter payload) {
      sequence.writeTo(payload.string(id));
      payload.integer(leaves).bool(hasDepartures);
    }

    private static Document read(TupleReader it) {
      return new Document(it.string(), Sequence.readFrom(it), it.smallInteger(), it.bool());
    }
  }

  /** A leaf of the document that was begun last. */
  record DocumentLeaf(
      RevisionId revision,
      boolean deleted,
      List<RevisionHash> ancestors,
      AttachmentList attachments,
      Body body)
      implements ImageFrame {
    @Override
    public Type type() {
      return Type.LEAF;
    }

    @Override
    public void writeTo(TupleWriter payload) {
      payload.bool(deleted).integer(revision.position());
      revision.hash().writeTo(payload);
      ancestors.forEach(it -> it.writeTo(payload));
      attachments.writeTo(payload.nil());
      body.writeTo(payload.nil());
    }

    private static DocumentLeaf read(TupleReader it) {
      boolean deleted = it.bool();
      RevisionId revision = new RevisionId(it.integer(), RevisionHash.readFrom(it));
      List<RevisionHash> ancestors = new ArrayList<>();
      while (!it.isNil()) {
        ancestors.add(RevisionHash.readFrom(it));
      }
      it.nil();
      AttachmentList attachments = AttachmentList.readFrom(it);
      it.nil();
      Body body = Body.read(it);
      if (body.form() == Body.NONE.form() && !(deleted && body.bytes().length == 0)) {
        throw new MalformedTupleException("Only a tombstone has no body");
      }
      return new DocumentLeaf(revision, deleted, ancestors, attachments, body);
    }
  }

  /** Where the document has left stored feeds. */
  record Departures(List<KeyValue> rows) implements Rows {
    @Override
    public Type type() {
      return Type.DEPARTURES;
    }
  }

  /** The document changed while it was read, or the content was removed: it is not continued. */
  record Abandoned() implements ImageFrame {
    @Override
    public Type type() {
      return Type.ABANDONED;
    }

    @Override
    public void writeTo(TupleWriter payload) {
      // Its type says all.
    }
  }

  /** A document of which nothing is left. */
  record Gone(String id, Sequence sequence) implements ImageFrame {
    @Override
    public Type type() {
      return Type.GONE;
    }

    @Override
    public void writeTo(TupleWriter payload) {
      sequence.writeTo(payload.string(id));
    }
  }

  /**
   * A local document.
   *
   * @param number of its revision; empty: it is deleted
   */
  record Local(String id, OptionalLong number, Body body) implements ImageFrame {
    @Override
    public Type type() {
      return Type.LOCAL;
    }

    @Override
    public void writeTo(TupleWriter payload) {
      payload.string(id);
      if (number.isPresent()) {
        body.writeTo(payload.integer(number.getAsLong()));
      }
    }

    private static Local read(TupleReader it) {
      String id = it.string();
      return it.hasNext()
          ? new Local(id, OptionalLong.of(it.integer()), Body.read(it))
          : new Local(id, OptionalLong.empty(), Body.NONE);
    }
  }

  /** Begins a content of attachments, whose chunks follow. */
  record Content(ContentId id, Md5 md5, long length, Optional<Long> plainLength)
      implements ImageFrame {
    @Override
    public Type type() {
      return Type.CONTENT;
    }

    @Override
    public void writeTo(TupleWriter payload) {
      payload.bytes(id.bytes()).bytes(md5.bytes()).integer(length);
      plainLength.ifPresentOrElse(payload::integer, payload::nil);
    }

    private static Content read(TupleReader it) {
      ContentId id = ContentId.of(it.bytes());
      Md5 md5 = Md5.of(it.bytes());
      long length = it.integer();
      if (it.isNil()) {
        it.nil();
        return new Content(id, md5, length, Optional.empty());
      }
      return new Content(id, md5, length, Optional.of(it.integer()));
    }
  }

  /** Bytes of the content that was begun last. */
  record Chunk(byte[] bytes) implements ImageFrame {
    @Override
    public Type type() {
      return Type.CHUNK;
    }

    @Override
    public void writeTo(TupleWriter payload) {
      payload.raw(bytes);
    }
  }

  /** What was purged. */
  record Purges(List<KeyValue> rows) implements Rows {
    @Override
    public Type type() {
      return Type.PURGES;
    }
  }

  /** Whoever has stored all before can have the rest alone, from this place on. */
  record Reached(byte[] place) implements ImageFrame {
    @Override
    public Type type() {
      return Type.REACHED;
    }

    @Override
    public void writeTo(TupleWriter payload) {
      payload.raw(place);
    }
  }

  /**
   * Ends an image or an increment.
   *
   * @param sequence up to which it has everything
   * @param frames how many came before
   * @param sha256 of all bytes from the mark at its beginning up to this frame
   */
  record End(Sequence sequence, long frames, long documents, long contents, byte[] sha256)
      implements ImageFrame {
    @Override
    public Type type() {
      return Type.END;
    }

    @Override
    public void writeTo(TupleWriter payload) {
      sequence.writeTo(payload);
      payload.integer(frames).integer(documents).integer(contents).bytes(sha256);
    }

    private static End read(TupleReader it) {
      return new End(Sequence.readFrom(it), it.integer(), it.integer(), it.integer(), it.bytes());
    }
  }

  /**
   * A body. Its size alone decides the form, whatever the layout of the database.
   *
   * @param form 0, 1 or 2
   */
  record Body(int form, byte[] bytes) {
    private static final int LEAVES = 1;
    private static final int TEXT = 2;
    static final Body NONE = new Body(0, new byte[0]);

    /** A body that is stored could be stored again. */
    private static final JsonLimits LIMITS =
        JsonLimits.couchDb().withDocumentBytes(Integer.MAX_VALUE);

    static Body ofLeaves(byte[] packed) {
      return new Body(LEAVES, packed);
    }

    static Body ofText(byte[] members) {
      return new Body(TEXT, members);
    }

    /**
     * Reads a body of the store.
     *
     * @param key of its first row
     * @param first the value of that row; null if there is no body
     */
    static Body read(ReadTransaction tx, byte[] key, byte[] first) {
      if (first == null) {
        return NONE;
      }
      RevisionMetadata metadata = RevisionMetadata.of(first);
      if (metadata.isInline()) {
        return ofLeaves(metadata.packed());
      }
      JsonBuffer json =
          new JsonBuffer(Math.max(JsonLimits.STORE_VALUE_BYTES, metadata.textBytes()));
      Awaiting.await(StoredBody.read(tx, key)).appendTo(new JsonAssembler(json, false));
      Body text = ofText(json.toBytes());
      if (metadata.isText()) {
        return text;
      }
      ExplodedBody body = text.exploded();
      if (body.packedBytes() > RevisionMetadata.MAX_INLINE_BYTES) {
        return text;
      }
      TupleWriter packed = new TupleWriter((int) body.packedBytes());
      PackedLeaves.write(body, packed);
      return ofLeaves(packed.toBytes());
    }

    /**
     * @throws MalformedTupleException if it is none
     * @throws lectus.error.LectusException if it is no JSON
     */
    ExplodedBody exploded() {
      return bytes.length == 0 ? ExplodedBody.empty() : exploded(json());
    }

    /** Returns the body of a local document as it is restored; throws as {@link #exploded}. */
    ExplodedBody local() {
      return bytes.length == 0
          ? ExplodedBody.empty()
          : exploded(new JsonBuffer(0).raw(RestoredCheckpoint.of(json().toBytes())));
    }

    private JsonBuffer json() {
      JsonBuffer json = new JsonBuffer(2 * bytes.length + 2).octet('{');
      if (form == LEAVES) {
        JsonAssembler members = new JsonAssembler(json, false);
        PackedLeaves.read(bytes, 0, members::leaf);
        members.finish();
      } else {
        json.raw(bytes);
      }
      return json.octet('}');
    }

    private static ExplodedBody exploded(JsonBuffer json) {
      try (JsonInput input = JsonInput.of(json.array(), 0, json.length())) {
        input.next();
        JsonExploder exploder = new JsonExploder(input, LIMITS);
        while (input.next() == JsonToken.FIELD_NAME) {
          exploder.member(input.rawName());
        }
        input.expectEnd();
        return exploder.finish();
      }
    }

    private void writeTo(TupleWriter payload) {
      payload.integer(form).raw(bytes);
    }

    private static Body read(TupleReader it) {
      int form = it.smallInteger();
      if (form < 0 || form > TEXT) {
        throw StoredFormat.newer("A body in an image", form, TEXT);
      }
      return new Body(form, it.rest());
    }
  }

  /** Rows of the store, whose keys and values are the elements of the payload. */
  sealed interface Rows extends ImageFrame {
    /** Rows of four bytes would take twenty times the memory of their frame. */
    int MOST = 1 << 18;

    /** Memory of a row besides its key and value, in bytes: three objects and a place in a list. */
    int BYTES_BESIDE = 64;

    List<KeyValue> rows();

    /** Returns how much memory a row takes. */
    static long bytes(KeyValue row) {
      return BYTES_BESIDE + (long) row.getKey().length + row.getValue().length;
    }

    @Override
    default void writeTo(TupleWriter payload) {
      rows().forEach(row -> payload.bytes(row.getKey()).bytes(row.getValue()));
    }

    private static List<KeyValue> read(TupleReader it) {
      List<KeyValue> rows = new ArrayList<>();
      while (it.hasNext()) {
        if (rows.size() == MOST) {
          throw new MalformedTupleException("More rows than a frame has");
        }
        rows.add(new KeyValue(it.bytes(), it.bytes()));
      }
      return rows;
    }
  }

  /**
   * Reads a payload.
   *
   * @throws MalformedTupleException if it is none of the type, or of a newer version
   */
  static ImageFrame read(int type, byte[] payload) {
    TupleReader it = new TupleReader(payload, 0);
    return switch (Type.numbered(type)) {
      case HEADER -> Header.FORMAT.reader(payload).only(Header::read);
      case SETTINGS -> new Settings(Rows.read(it));
      case DOCUMENT -> it.only(Document::read);
      case LEAF -> DocumentLeaf.read(it);
      case DEPARTURES -> new Departures(Rows.read(it));
      case ABANDONED -> it.only(none -> new Abandoned());
      case GONE -> it.only(gone -> new Gone(gone.string(), Sequence.readFrom(gone)));
      case LOCAL -> Local.read(it);
      case CONTENT -> it.only(Content::read);
      case CHUNK -> new Chunk(payload);
      case PURGES -> new Purges(Rows.read(it));
      case END -> it.only(End::read);
      case REACHED -> new Reached(payload);
    };
  }
}
