package lectus.image;

import com.apple.foundationdb.ReadTransaction;
import com.fasterxml.jackson.core.JsonToken;
import lectus.document.RevisionMetadata;
import lectus.document.StoredBody;
import lectus.document.edit.RestoredCheckpoint;
import lectus.image.ImageFrame.Body;
import lectus.json.ExplodedBody;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.json.JsonExploder;
import lectus.json.JsonInput;
import lectus.json.JsonLimits;
import lectus.json.PackedLeaves;
import lectus.store.Awaiting;
import lectus.tuple.TupleWriter;

/** Bodies as they stand in an image. The size alone decides the form, whatever the layout. */
final class ImageBodies {
  /** A body that is stored could be stored again. */
  private static final JsonLimits LIMITS =
      JsonLimits.couchDb().withDocumentBytes(Integer.MAX_VALUE);

  private ImageBodies() {}

  /**
   * Reads a body.
   *
   * @param key of its first row
   * @param first the value of that row; null if there is no body
   */
  static Body read(ReadTransaction tx, byte[] key, byte[] first) {
    if (first == null) {
      return Body.NONE;
    }
    RevisionMetadata metadata = RevisionMetadata.of(first);
    if (metadata.isInline()) {
      return new Body(Body.LEAVES, metadata.packed());
    }
    JsonBuffer json = new JsonBuffer(Math.max(JsonLimits.STORE_VALUE_BYTES, metadata.textBytes()));
    Awaiting.await(StoredBody.read(tx, key)).appendTo(new JsonAssembler(json, false));
    Body text = new Body(Body.TEXT, json.toBytes());
    if (metadata.isText()) {
      return text;
    }
    ExplodedBody body = exploded(text);
    return body.packedBytes() <= RevisionMetadata.MAX_INLINE_BYTES ? leaves(body) : text;
  }

  private static Body leaves(ExplodedBody body) {
    TupleWriter packed = new TupleWriter((int) body.packedBytes());
    PackedLeaves.write(body, packed);
    return new Body(Body.LEAVES, packed.toBytes());
  }

  /**
   * @throws lectus.tuple.MalformedTupleException if it is none
   * @throws lectus.error.LectusException if it is no JSON
   */
  static ExplodedBody exploded(Body body) {
    return body.bytes().length == 0 ? ExplodedBody.empty() : exploded(json(body));
  }

  /** Returns the body of a local document as it is restored; throws as {@link #exploded}. */
  static ExplodedBody local(Body body) {
    return body.bytes().length == 0
        ? ExplodedBody.empty()
        : exploded(new JsonBuffer(0).raw(RestoredCheckpoint.of(json(body).toBytes())));
  }

  private static JsonBuffer json(Body body) {
    JsonBuffer json = new JsonBuffer(2 * body.bytes().length + 2).octet('{');
    if (body.form() == Body.LEAVES) {
      JsonAssembler members = new JsonAssembler(json, false);
      PackedLeaves.read(body.bytes(), 0, members::leaf);
      members.finish();
    } else {
      json.raw(body.bytes());
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
}
