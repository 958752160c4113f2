package lectus.document.write;

import com.apple.foundationdb.ReadTransaction;
import java.util.List;
import java.util.Optional;
import lectus.database.DatabaseHandle;
import lectus.database.Validator.Declaration;
import lectus.document.DocumentsSubspace;
import lectus.document.StoredBody;
import lectus.error.LectusException;
import lectus.json.ChosenPaths;
import lectus.json.ExplodedBody;
import lectus.json.FieldPath;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;

/**
 * The member {@code validate_doc_update} of a design document. If it is present, with any value,
 * CouchDB submits every write of the database to it.
 *
 * @param declaration the member if the design document's language is {@code query}
 */
public record ValidationMember(Optional<Declaration> declaration) {
  private static final String NAME = "validate_doc_update";
  private static final String LANGUAGE = "language";

  public static final ChosenPaths LEAVES = ChosenPaths.ofFields(List.of(FieldPath.parse(NAME)));

  private static final ChosenPaths WITH_LANGUAGE =
      ChosenPaths.ofFields(List.of(FieldPath.parse(LANGUAGE), FieldPath.parse(NAME)));

  /** Returns the member of a body. */
  static Optional<ValidationMember> in(ExplodedBody body) {
    if (!body.has(LEAVES)) {
      return Optional.empty();
    }
    JsonBuffer json = new JsonBuffer(body.jsonBytes()).octet('{');
    body.appendTo(json);
    return in(json.octet('}'));
  }

  /**
   * Returns the member of a design document as JSON. One that is nested too deeply for a selector
   * passes for a function, which cannot be compiled.
   */
  public static Optional<ValidationMember> in(JsonBuffer json) {
    JsonObject design;
    try {
      design = (JsonObject) JsonValue.parse(json.toBytes());
    } catch (LectusException tooDeep) {
      return Optional.of(new ValidationMember(Optional.empty()));
    }
    boolean isDeclared = design.get(LANGUAGE).equals(Optional.of(new JsonString("query")));
    return design
        .get(NAME)
        .map(it -> new ValidationMember(isDeclared ? Optional.of(declared(it)) : Optional.empty()));
  }

  private static Declaration declared(JsonValue value) {
    JsonBuffer out = new JsonBuffer(256);
    value.writeTo(out);
    return Declaration.of(out.toBytes());
  }

  /** Whether the leaf of a path belongs to the member. */
  public static boolean isIn(byte[] bytes, int path, int pathEnd) {
    return LEAVES.contain(bytes, path, pathEnd);
  }

  /** Returns the member of a stored live revision. */
  static Optional<ValidationMember> stored(
      ReadTransaction tx, DatabaseHandle db, String docId, RevisionId revision) {
    byte[] prefix = new DocumentsSubspace(db).revision(docId, false, revision);
    JsonBuffer members = new JsonBuffer(256).octet('{');
    Awaiting.await(StoredBody.read(tx.snapshot(), prefix, WITH_LANGUAGE))
        .appendTo(new JsonAssembler(members, false));
    return in(members.octet('}'));
  }
}
