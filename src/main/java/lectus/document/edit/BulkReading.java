package lectus.document.edit;

import com.fasterxml.jackson.core.JsonToken;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import lectus.document.edit.BulkEdits.BulkMode;
import lectus.document.edit.BulkEdits.RefusedEdit;
import lectus.document.edit.DocumentParser.DocumentReading;
import lectus.document.edit.DocumentParser.DocumentReading.DocumentIdentity;
import lectus.document.edit.DocumentParser.DocumentReading.ParsedDocument;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonInput;

/**
 * Reads the body of {@code _bulk_docs}: {@code {"docs":[…],"new_edits":true,"atomic":false}}, with
 * its members in any order. The last of duplicate members wins.
 *
 * <p>What {@code docs} mean is not known before the end, where {@code new_edits} may stand. So the
 * documents are kept while they take little memory. If they take more, the body is read twice: once
 * to its end without keeping a document, and then portion by portion. Nothing is written before all
 * of the body is known to be JSON of the right shape. Waits for the store. Not thread-safe.
 */
public final class BulkReading implements AutoCloseable {
  /** Of a row of the answer, without the id. */
  private static final long BYTES_OF_ROW = 128;

  private final DocumentParser parser;
  private final SentJson json;
  private final Supplier<String> newId;
  private final Consumer<String> ids;
  private final LongConsumer memory;
  private final long portionBytes;
  private final BulkMembers members = new BulkMembers();
  private Optional<JsonInput> reading = Optional.empty();

  /** A document that was read, and did not fit into the last portion. */
  private Optional<DocumentReading> pending = Optional.empty();

  private Optional<BulkMode> mode = Optional.empty();
  private Survey surveyed = new Survey();
  private boolean ended;
  private int count;
  private long portion;

  /**
   * @param newId generates ids for documents without one
   * @param ids throws what is wrong with an id in this database
   * @param memory receives, for each document, the approximate bytes of memory that it holds, and
   *     negative ones when they are given back; throws when that is too much, and then counts anew
   * @param portionBytes memory that the documents of a portion take, but for the last one
   */
  public BulkReading(
      DocumentParser parser,
      SentJson json,
      Supplier<String> newId,
      Consumer<String> ids,
      LongConsumer memory,
      long portionBytes) {
    this.parser = parser.of(json);
    this.json = json;
    this.newId = newId;
    this.ids = ids;
    this.memory = memory;
    this.portionBytes = portionBytes;
  }

  /**
   * Returns the next documents, when those before are written.
   *
   * @throws LectusException {@code bad_request}: not JSON, or of another shape; the error of the
   *     first refused document, if that refuses the request; {@code too_large} (413): more than
   *     {@value BulkEdits#MAX_DOCUMENTS} documents
   */
  public BulkEdits next() {
    giveBack();
    try {
      return read();
    } catch (LectusException failure) {
      portion = 0;
      throw failure;
    }
  }

  private BulkEdits read() {
    if (mode.isEmpty()) {
      Optional<BulkEdits> whole = whole(portionBytes);
      if (whole.isPresent()) {
        return whole.get();
      }
      giveBack();
      mode = Optional.of(survey());
    }
    return mode.get() == BulkMode.EACH_ALONE ? part() : whole(Long.MAX_VALUE).orElseThrow();
  }

  /** Returns all documents; none if they take more memory. */
  private Optional<BulkEdits> whole(long most) {
    List<DocumentReading> documents = new ArrayList<>();
    pending = Optional.empty();
    try (JsonInput input = json.open()) {
      boolean isWhole =
          members.read(
              input,
              array -> {
                documents.clear();
                giveBack();
                return fill(array, documents, most);
              });
      if (!isWhole) {
        return Optional.empty();
      }
    }
    ended = true;
    BulkEdits bulk = edits(documents);
    bulk.requireWorthwhile();
    return Optional.of(bulk);
  }

  /**
   * Reads documents.
   *
   * @return whether these were the last ones
   * @throws LectusException Unavailable if there is no memory for the first one, which comes again
   */
  private boolean fill(JsonInput input, List<DocumentReading> documents, long most) {
    while (portion < most) {
      if (pending.isEmpty()) {
        if (input.next() == JsonToken.END_ARRAY) {
          return true;
        }
        requireFew(count + documents.size());
        pending = Optional.of(parser.element(input));
      }
      DocumentReading document = pending.get();
      long bytes = document.memoryBytes();
      memory.accept(bytes);
      pending = Optional.empty();
      portion += bytes;
      documents.add(document);
    }
    return false;
  }

  /** Reads the whole body without keeping a document. */
  private BulkMode survey() {
    Survey[] last = {new Survey()};
    try (JsonInput input = json.open()) {
      members.read(
          input,
          array -> {
            last[0] = new Survey();
            while (array.next() != JsonToken.END_ARRAY) {
              last[0].add(parser.element(array));
            }
            return true;
          });
    }
    surveyed = last[0];
    if (surveyed.lacksRevision && !members.newEdits()) {
      throw ParsedDocument.needsRevision();
    }
    if (surveyed.refusal.isPresent() && members.newEdits()) {
      throw new LectusException(surveyed.refusal.get());
    }
    return members.mode();
  }

  /** The last array of documents of a body that is not kept. */
  private final class Survey {
    private int documents;
    private long idCharacters;

    /** Whether a document names no revision. */
    private boolean lacksRevision;

    /** What is wrong with the first one that cannot be taken. */
    private Optional<LectusError> refusal = Optional.empty();

    void add(DocumentReading document) {
      requireFew(documents++);
      idCharacters += document.identity().id().map(String::length).orElse(0);
      lacksRevision |= lacksRevision(document);
      if (refusal.isEmpty()) {
        try {
          edit(document);
        } catch (LectusException e) {
          refusal = Optional.of(e.error()).filter(BulkReading::refusesAll);
        }
      }
    }
  }

  /** Returns about how long the answer will be if there is more than one portion, in bytes. */
  public long answerBytes() {
    return members.newEdits() ? surveyed.documents * BYTES_OF_ROW + surveyed.idCharacters : 0;
  }

  /** Returns how many documents the request has, if there is more than one portion. */
  public int documents() {
    return surveyed.documents;
  }

  /**
   * Reads the ids of the last documents, and generates those that are missing.
   *
   * @param from how many come before
   */
  public void readIds(int from, Consumer<String> to) {
    try (JsonInput input = json.open()) {
      members.findDocuments(input);
      for (int place = 0; input.next() != JsonToken.END_ARRAY; place++) {
        Optional<String> id = id(input);
        if (place >= from) {
          to.accept(id.orElseGet(newId));
        }
      }
    }
  }

  private static Optional<String> id(JsonInput document) {
    Optional<String> id = Optional.empty();
    while (document.next() == JsonToken.FIELD_NAME) {
      boolean isId = document.rawName().equals("_id");
      if (document.next() == JsonToken.VALUE_STRING && isId) {
        id = Optional.of(document.text());
      }
      document.skip();
    }
    return id;
  }

  private BulkEdits part() {
    if (reading.isEmpty()) {
      reading = Optional.of(json.open());
      members.findDocuments(reading.get());
    }
    List<DocumentReading> documents = new ArrayList<>();
    try {
      ended = fill(reading.get(), documents, portionBytes);
    } catch (LectusException failure) {
      boolean lacksMemory = pending.isPresent();
      if (!lacksMemory || documents.isEmpty()) {
        throw failure;
      }
    }
    if (ended) {
      reading.get().close();
    }
    count += documents.size();
    return edits(documents);
  }

  private void giveBack() {
    memory.accept(-portion);
    portion = 0;
  }

  private BulkEdits edits(List<DocumentReading> readings) {
    List<Edit> edits = new ArrayList<>(readings.size());
    List<RefusedEdit> refused = new ArrayList<>();
    for (DocumentReading document : readings) {
      if (!members.newEdits() && lacksRevision(document)) {
        throw ParsedDocument.needsRevision();
      }
      try {
        edits.add(edit(document));
      } catch (LectusException refusal) {
        if (members.mode() != BulkMode.EACH_ALONE
            || (members.newEdits() && refusesAll(refusal.error()))) {
          throw refusal;
        }
        int place = edits.size() + refused.size();
        refused.add(refused(place, document.identity(), refusal.error()));
      }
    }
    return new BulkEdits(edits, refused, members.newEdits(), members.mode(), ended);
  }

  /**
   * @throws LectusException what is wrong with the document
   */
  private Edit edit(DocumentReading document) {
    Edit edit = parser.edit(document.parsed(), members.newEdits(), newId);
    ids.accept(edit.id());
    return edit;
  }

  /** Whether a client's document is malformed, and not only too large. */
  private static boolean refusesAll(LectusError error) {
    return !(error instanceof LectusError.TooLarge);
  }

  /** No replicator omits revisions, so this is a fault of the request, not of one document. */
  private static boolean lacksRevision(DocumentReading document) {
    return document instanceof ParsedDocument && !document.identity().namesRevision();
  }

  private RefusedEdit refused(int place, DocumentIdentity identity, LectusError error) {
    return new RefusedEdit(
        place,
        identity.id().orElseGet(newId),
        members.newEdits() ? Optional.empty() : identity.revision(),
        error);
  }

  private static void requireFew(int documents) {
    if (documents >= BulkEdits.MAX_DOCUMENTS) {
      throw LectusException.tooLarge(
          "too_large",
          "A request takes " + BulkEdits.MAX_DOCUMENTS + " documents at most, this has more.");
    }
  }

  /** Whether nothing of it lies in the store. */
  public boolean isHeld() {
    return json.stored().isEmpty();
  }

  @Override
  public void close() {
    reading.ifPresent(JsonInput::close);
    json.discard();
  }

  /** The members of a {@code _bulk_docs} around its documents. The last of duplicates wins. */
  private static final class BulkMembers {
    private static final String DOCUMENTS = "docs";

    private boolean newEdits;
    private boolean atomic;
    private boolean allOrNothing;

    /** How many members there are with documents. */
    private int arrays;

    boolean newEdits() {
      return newEdits;
    }

    /** CouchDB honours {@code all_or_nothing} only where it makes the revisions itself. */
    BulkMode mode() {
      if (allOrNothing && newEdits) {
        return BulkMode.ALL_OR_NOTHING;
      }
      return atomic ? BulkMode.ATOMIC : BulkMode.EACH_ALONE;
    }

    /**
     * Reads a body.
     *
     * @param documents reads an array of documents, behind whose opening bracket the input stands,
     *     to its end; false: no more is to be read
     * @return false if no more was to be read
     */
    boolean read(JsonInput input, Predicate<JsonInput> documents) {
      newEdits = true;
      atomic = false;
      allOrNothing = false;
      arrays = 0;
      begin(input);
      while (input.next() == JsonToken.FIELD_NAME) {
        String name = input.name();
        JsonToken value = input.next();
        switch (name) {
          case DOCUMENTS -> {
            requireArray(value);
            arrays++;
            if (!documents.test(input)) {
              return false;
            }
          }
          case "new_edits" -> newEdits = bool(name, value);
          case "atomic" -> atomic = bool(name, value);
          case "all_or_nothing" -> {
            allOrNothing = value == JsonToken.VALUE_TRUE;
            input.skip();
          }
          default -> input.skip();
        }
      }
      input.expectEnd();
      if (arrays == 0) {
        throw LectusException.badRequest("POST body must include `docs` parameter.");
      }
      return true;
    }

    /** Moves a further input of the same body behind the bracket that opens its documents. */
    void findDocuments(JsonInput input) {
      begin(input);
      int found = 0;
      while (found < arrays) {
        input.next();
        found += input.name().equals(DOCUMENTS) ? 1 : 0;
        input.next();
        if (found < arrays) {
          input.skip();
        }
      }
    }

    private static void begin(JsonInput input) {
      if (input.next() != JsonToken.START_OBJECT) {
        throw LectusException.badRequest("Request body must be a JSON object");
      }
    }

    private static void requireArray(JsonToken value) {
      if (value != JsonToken.START_ARRAY) {
        throw LectusException.badRequest("`docs` parameter must be an array.");
      }
    }

    private static boolean bool(String name, JsonToken value) {
      if (value != JsonToken.VALUE_TRUE && value != JsonToken.VALUE_FALSE) {
        throw LectusException.badRequest("`" + name + "` parameter must be a boolean.");
      }
      return value == JsonToken.VALUE_TRUE;
    }
  }
}
