package lectus.audit;

import com.apple.foundationdb.KeyValue;
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
import lectus.revision.RevisionsSubspace;

/** Assembles a document from its rows, which come in key order. */
final class StoredDocumentBuilder {
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
