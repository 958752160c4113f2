package lectus.document.read;

import com.apple.foundationdb.ReadTransaction;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import lectus.database.DatabaseHandle;
import lectus.document.DocumentJson;
import lectus.document.MetadataLeaves;
import lectus.document.StoredBody;
import lectus.json.ChosenPaths;
import lectus.json.ExplodedBody;
import lectus.json.FieldPath;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.json.Leaf;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionText;
import lectus.store.Awaiting;

/**
 * Reads and writes only some fields of documents. As in CouchDB, {@code _id}, {@code _rev}, {@code
 * _deleted}, {@code _conflicts} and {@code _attachments} are shown only if they are named, and an
 * array of which single elements are named is an object with their numbers.
 */
public final class Projection {
  private final ChosenPaths fields;
  private final ChosenPaths attachments;
  private final ChosenPaths conflicts;
  private final Set<String> metadata = new HashSet<>();

  /**
   * @param fields at least one
   */
  Projection(List<FieldPath> fields) {
    for (FieldPath field : fields) {
      if (field.names().size() == 1 && isMetadata(field)) {
        metadata.add(field.names().get(0));
      }
    }
    this.fields = ChosenPaths.ofFields(fields.stream().filter(it -> !isMetadata(it)).toList());
    this.attachments = below("_attachments", fields);
    this.conflicts = below("_conflicts", fields);
  }

  private static ChosenPaths below(String member, List<FieldPath> fields) {
    return ChosenPaths.ofFields(
        fields.stream().filter(it -> it.names().get(0).equals(member)).toList());
  }

  private static boolean isMetadata(FieldPath field) {
    return field.names().get(0).startsWith("_");
  }

  CompletableFuture<StoredBody> read(
      ReadTransaction tx, Bodies bodies, String id, boolean deleted, RevisionId leaf) {
    return bodies.fields(tx, id, deleted, leaf, fields);
  }

  /**
   * Appends the document with only these fields.
   *
   * @param branches all of the document's branches, the winner first, for {@code _conflicts}; empty
   *     to omit it
   */
  void append(
      JsonBuffer out,
      String id,
      boolean deleted,
      RevisionId leaf,
      StoredBody body,
      List<EditBranch> branches) {
    out.octet('{');
    Members members = new Members(out);
    if (metadata.contains("_id")) {
      members.next().ascii("\"_id\":").string(id);
    }
    if (metadata.contains("_rev")) {
      RevisionText.append(members.next().ascii("\"_rev\":"), leaf);
    }
    JsonAssembler assembler = new JsonAssembler(out, members.any, fields);
    body.appendTo(assembler);
    members.any = assembler.needsComma();
    append(members, attachments, () -> MetadataLeaves.ofAttachments(body.attachments()));
    if (deleted && metadata.contains("_deleted")) {
      members.next().ascii("\"_deleted\":true");
    }
    append(members, conflicts, () -> MetadataLeaves.ofConflicts(branches));
    out.octet('}');
  }

  /** Appends the attachments that some fields name to an object that has members. */
  static void appendAttachments(JsonBuffer out, List<FieldPath> fields, StoredBody body) {
    Members members = new Members(out);
    members.any = true;
    append(
        members,
        below("_attachments", fields),
        () -> MetadataLeaves.ofAttachments(body.attachments()));
  }

  private static void append(
      Members members, ChosenPaths shown, Supplier<ExplodedBody> ofDocument) {
    if (shown.paths().isEmpty()) {
      return;
    }
    JsonAssembler assembler = new JsonAssembler(members.out, members.any, shown);
    for (Leaf leaf : ofDocument.get().leaves()) {
      if (shown.contain(leaf.path(), 0, leaf.path().length)) {
        assembler.leaf(leaf.path(), 0, leaf.value());
      }
    }
    assembler.finish();
    members.any = assembler.needsComma();
  }

  private static final class Members {
    private final JsonBuffer out;
    private boolean any;

    Members(JsonBuffer out) {
      this.out = out;
    }

    JsonBuffer next() {
      if (any) {
        out.octet(',');
      }
      any = true;
      return out;
    }
  }

  /** Reads some fields of a body: the ranges of their leaves and nothing else (RFC 004). */
  public static final class FieldsReader {
    private final ReadTransaction tx;
    private final Bodies bodies;

    public FieldsReader(ReadTransaction tx, DatabaseHandle db) {
      this.tx = tx;
      this.bodies = new Bodies(db);
    }

    /** Appends the document with only these fields; its object stays open. */
    public void append(
        String id, boolean deleted, RevisionId revision, List<FieldPath> fields, JsonBuffer out) {
      ChosenPaths chosen = ChosenPaths.ofFields(fields);
      StoredBody body = Awaiting.await(bodies.fields(tx, id, deleted, revision, chosen));
      DocumentJson.append(out, id, deleted, revision, body);
      Projection.appendAttachments(out, fields, body);
    }
  }
}
