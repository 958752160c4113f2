package lectus.audit;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.Range;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.tuple.ByteArrayUtil;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import lectus.attachment.AttachmentList;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseSubspace;
import lectus.database.Validator;
import lectus.database.ValidatorsSubspace;
import lectus.document.BodyReading;
import lectus.document.DocumentId;
import lectus.document.DocumentsSubspace;
import lectus.document.DocumentsSubspace.BodyKey;
import lectus.document.read.AllDocsSubspace;
import lectus.document.read.AllDocsSubspace.AllDocsRow;
import lectus.document.write.ValidationMember;
import lectus.json.ChosenPaths;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.json.MalformedTupleException;
import lectus.json.MalformedTupleException.NewerFormatException;
import lectus.revision.EditBranch;
import lectus.revision.EditBranch.BodySize;
import lectus.revision.RevisionId;
import lectus.revision.RevisionsSubspace;

/**
 * Everything stored under one document id.
 *
 * @param branches in reverse key order: the rightful winner comes first
 * @param bodies the actual sizes of each revision that has a body
 * @param attachments of each revision that has some
 * @param row of the all-docs index
 * @param isListedAsDeleted whether it has a row of the deleted documents
 * @param validation the document's part in the validation of writes
 * @param defects what could not be read or assembled
 * @param unreadable the rows that could not be read
 * @param damaged whose bodies could not be read wholly
 * @param isOfLaterVersion whether a later version wrote some of it, which is no damage
 */
record StoredDocument(
    String id,
    List<EditBranch> branches,
    Map<Leaf, BodySize> bodies,
    Map<Leaf, AttachmentList> attachments,
    Optional<AllDocsRow> row,
    boolean isListedAsDeleted,
    Validation validation,
    List<String> defects,
    List<KeyValue> unreadable,
    Set<Leaf> damaged,
    boolean isOfLaterVersion) {

  /** The subspaces whose keys begin with a document's id. */
  static final List<DatabaseSubspace> SUBSPACES =
      List.of(
          DatabaseSubspace.REVISIONS,
          DatabaseSubspace.DOCUMENTS,
          DatabaseSubspace.ALL_DOCS,
          DatabaseSubspace.DELETED_DOCS,
          DatabaseSubspace.VALIDATORS);

  /**
   * How a design document validates writes.
   *
   * @param leaves whose bodies have {@code validate_doc_update}
   * @param listed the document among the database's validators
   */
  record Validation(Map<Leaf, ValidationMember> leaves, Optional<Validator> listed) {

    /**
     * Returns what should be listed.
     *
     * @param winner as the document has it
     */
    Optional<Validator> expected(String id, EditBranch winner) {
      return winner.deleted() || !winner.isWinner()
          ? Optional.empty()
          : Optional.ofNullable(leaves.get(Leaf.of(winner)))
              .map(
                  it ->
                      new Validator(
                          id,
                          winner.leaf().toString(),
                          winner.winner().sequence(),
                          it.declaration()));
    }
  }

  /** The leaf that a body belongs to. */
  record Leaf(boolean deleted, RevisionId revision) {
    static Leaf of(EditBranch branch) {
      return new Leaf(branch.deleted(), branch.leaf());
    }

    @Override
    public String toString() {
      return deleted ? "the tombstone " + revision : revision.toString();
    }
  }

  /** Reads one document at the transaction's version. */
  static StoredDocument read(ReadTransaction tx, DatabaseHandle db, String id) {
    StoredDocumentBuilder document = new StoredDocumentBuilder(db, id);
    for (DatabaseSubspace subspace : SUBSPACES) {
      Consumer<KeyValue> part = document.part(subspace);
      byte[] head = subspace.key(db.prefix()).string(id).toBytes();
      tx.getRange(new Range(head, ByteArrayUtil.strinc(head))).forEach(part);
    }
    return document.build();
  }

  boolean isEmpty() {
    return branches.isEmpty()
        && bodies.isEmpty()
        && row.isEmpty()
        && !isListedAsDeleted
        && validation.listed().isEmpty()
        && defects.isEmpty();
  }

  /**
   * Returns the size of a branch's body; empty if it is missing, or not what was written. Where all
   * of it can be read, the branch may be wrong about its size.
   */
  Optional<BodySize> wholeBody(EditBranch branch) {
    BodySize stored = bodies.get(Leaf.of(branch));
    if (stored == null) {
      boolean needsNone = branch.deleted() && !branch.body().isStored();
      return needsNone ? Optional.of(branch.body()) : Optional.empty();
    }
    boolean isWhole = stored.equals(branch.body()) || !damaged.contains(Leaf.of(branch));
    return isWhole ? Optional.of(stored) : Optional.empty();
  }

  /** Whether there are rows that cannot be read, and nothing is lost without them. */
  boolean hasStraysOnly() {
    return !unreadable.isEmpty()
        && branches.stream()
            .allMatch(
                it -> !damaged.contains(Leaf.of(it)) || it.body().equals(bodies.get(Leaf.of(it))));
  }

  /** Returns the branch that should win. Empty if there is none. */
  Optional<EditBranch> winner() {
    return branches.isEmpty() ? Optional.empty() : Optional.of(branches.get(0));
  }

  /** Assembles a document from its rows, which come in key order. */
  static final class StoredDocumentBuilder {
    private final String id;
    private final AllDocsSubspace allDocs;
    private final int branchOffset;
    private final int bodyOffset;
    private final List<EditBranch> branches = new ArrayList<>();
    private final Map<StoredDocument.Leaf, BodySize> bodies = new LinkedHashMap<>();
    private final Map<StoredDocument.Leaf, AttachmentList> attachments = new LinkedHashMap<>();
    private final List<String> defects = new ArrayList<>();
    private final List<KeyValue> unreadable = new ArrayList<>();
    private final Set<StoredDocument.Leaf> damaged = new HashSet<>();
    private final ValidatorsSubspace validators;
    private final Map<StoredDocument.Leaf, ValidationMember> validating = new HashMap<>();
    private Optional<AllDocsRow> row = Optional.empty();
    private boolean isListedAsDeleted;
    private Optional<Validator> validator = Optional.empty();
    private boolean isOfLaterVersion;
    private Body body;

    StoredDocumentBuilder(DatabaseHandle db, String id) {
      this.id = id;
      this.allDocs = new AllDocsSubspace(db);
      this.validators = new ValidatorsSubspace(db.prefix());
      this.branchOffset = DatabaseSubspace.REVISIONS.key(db.prefix()).string(id).length();
      this.bodyOffset = DatabaseSubspace.DOCUMENTS.key(db.prefix()).string(id).length();
    }

    /** The body being read. */
    private static final class Body {
      private final StoredDocument.Leaf leaf;
      private final JsonBuffer json = new JsonBuffer(256).octet('{');
      private final BodyReading rows = BodyReading.checking(new JsonAssembler(json, false));
      private boolean hasMetadata;
      private boolean validates;
      private long storedBytes;

      private Body(StoredDocument.Leaf leaf) {
        this.leaf = leaf;
      }
    }

    /**
     * Returns the consumer for the rows of one subspace. An unreadable row is a defect, not a
     * failure.
     */
    Consumer<KeyValue> part(DatabaseSubspace subspace) {
      return switch (subspace) {
        case REVISIONS -> row -> take("an edit branch", row, this::branch);
        case DOCUMENTS -> row -> take("a part of a body", row, this::body);
        case ALL_DOCS -> row -> take("its row of the all-docs index", row, this::live);
        case DELETED_DOCS -> row -> take("its row of the deleted documents", row, this::deleted);
        case VALIDATORS -> row -> take("its row of the validators", row, this::validator);
        default -> throw new IllegalArgumentException(subspace + " is not sorted by documents");
      };
    }

    private void take(String what, KeyValue row, Consumer<KeyValue> decoder) {
      try {
        decoder.accept(row);
      } catch (MalformedTupleException
          | IllegalArgumentException
          | IllegalStateException
          | IndexOutOfBoundsException e) {
        defects.add(Texts.unreadable(what, row.getKey(), e));
        unreadable.add(row);
        isOfLaterVersion |= e instanceof NewerFormatException;
      }
    }

    private void branch(KeyValue row) {
      branches.add(RevisionsSubspace.decode(row, branchOffset));
    }

    private void live(KeyValue found) {
      row = Optional.of(allDocs.decode(found));
    }

    private void deleted(KeyValue found) {
      allDocs.decodeDeleted(found);
      isListedAsDeleted = true;
    }

    private void validator(KeyValue found) {
      validator = Optional.of(validators.decode(found));
    }

    private void body(KeyValue part) {
      byte[] key = part.getKey();
      BodyKey decoded = DocumentsSubspace.decodeKey(key, bodyOffset);
      StoredDocument.Leaf leaf = new StoredDocument.Leaf(decoded.deleted(), decoded.revision());
      if (body == null || !body.leaf.equals(leaf)) {
        finishBody();
        body = new Body(leaf);
      }
      try {
        take(decoded, part);
        body.storedBytes += key.length + part.getValue().length;
      } catch (MalformedTupleException | IllegalArgumentException | IllegalStateException e) {
        damaged.add(leaf);
        throw e;
      }
    }

    private void take(BodyKey decoded, KeyValue part) {
      byte[] key = part.getKey();
      int path = decoded.pathOffset();
      body.hasMetadata |= path == key.length;
      body.rows.take(key, path, part.getValue());
      if (!DocumentId.isDesign(id) || body.rows.metadata().isText()) {
        return;
      }
      if (path == key.length) {
        body.rows.metadata().forEachLeaf((packed, from, to, value, end) -> look(packed, from, to));
      } else {
        look(key, path, key.length);
      }
    }

    private void look(byte[] bytes, int path, int pathEnd) {
      body.validates |= ValidationMember.isIn(bytes, path, pathEnd);
    }

    private void finishBody() {
      if (body == null) {
        return;
      }
      try {
        body.rows.finish();
      } catch (MalformedTupleException torn) {
        damaged.add(body.leaf);
        defects.add("the body of " + body.leaf + " cannot be read (" + torn.getMessage() + ")");
      }
      AttachmentList its = body.rows.attachments();
      long external = body.json.octet('}').length() + its.length();
      if (body.rows.metadata().isText() && !damaged.contains(body.leaf)) {
        lookAtText();
      }
      if (body.validates && !damaged.contains(body.leaf)) {
        ValidationMember.in(body.json).ifPresent(member -> validating.put(body.leaf, member));
      }
      bodies.put(body.leaf, new BodySize(external, body.storedBytes, its.all().size()));
      if (!its.all().isEmpty()) {
        attachments.put(body.leaf, its);
      }
      if (!body.hasMetadata) {
        damaged.add(body.leaf);
        defects.add("the body of " + body.leaf + " has no metadata");
      }
      body = null;
    }

    private void lookAtText() {
      try {
        ChosenPaths sought = DocumentId.isDesign(id) ? ValidationMember.LEAVES : ChosenPaths.NONE;
        body.validates |= BodyReading.hasLeaf(body.json, sought);
      } catch (MalformedTupleException damage) {
        damaged.add(body.leaf);
        defects.add("the body of " + body.leaf + " cannot be read (" + damage.getMessage() + ")");
      }
    }

    StoredDocument build() {
      finishBody();
      Collections.reverse(branches);
      StoredDocument.Validation validation = new StoredDocument.Validation(validating, validator);
      return new StoredDocument(
          id,
          branches,
          bodies,
          attachments,
          row,
          isListedAsDeleted,
          validation,
          defects,
          unreadable,
          damaged,
          isOfLaterVersion);
    }
  }
}
