package lectus.replication;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import lectus.document.ReadAhead;
import lectus.document.edit.ReplicatedEdit;
import lectus.http.MediaType;
import lectus.http.RelatedDocument;
import lectus.http.client.CouchClient;
import lectus.http.client.CouchClient.RemoteFailure;
import lectus.json.JsonBuffer;
import lectus.replication.ReplicationStatistics.Count;
import lectus.replication.SentDocument.RawElements;
import lectus.replication.SentDocument.RawJson;
import lectus.replication.SentDocument.TooLongDocument;
import lectus.replication.Source.Had;
import lectus.replication.Source.OpenRevisions;
import lectus.replication.Target.Arrived;
import lectus.replication.Target.AttachmentPart;
import lectus.replication.Target.AttachmentParts;
import lectus.replication.Target.Refusal;

/**
 * Copies the revisions of one batch of changes that the target lacks. Documents without attachments
 * come many at a time; the others one by one, and their attachments pass through without being
 * held.
 */
final class BatchCopy {
  /** Documents of so many bytes together are written at once. */
  private static final int WRITTEN_BYTES = 1 << 20;

  /** More documents at once would take long to be answered. */
  private static final int WRITTEN_DOCUMENTS = 500;

  /** Leaves that are read in one transaction before it is known how large they are. */
  private static final int FIRST_READ = 20;

  private static final int READ_TOGETHER = 100;

  /** Memory of a revision of a history, about. */
  private static final int REVISION_BYTES = 64;

  private static final int MAX_HEADER_BYTES = 8_000;

  /** A longer document is not kept until its attachments are looked for. */
  private static final int MAX_NAMED_BYTES = 1_000_000;

  /** It is kept as JSON, and its attachments parsed. */
  private static final int NAMED_COPIES = 2;

  private static final int KILOBYTE = 1 << 10;

  /** Others that hold the memory may wait for servers that answer slowly, or never. */
  private static final int MEMORY_SECONDS = 10;

  private final Source source;
  private final Target target;
  private final ReplicationRequest.Options options;
  private final ReplicationStatistics statistics;
  private final Limits limits;
  private final BooleanSupplier isStopped;
  private final List<SentDocument> held = new ArrayList<>();
  private long heldBytes;

  /** Kilobytes for the document that is being read. */
  private int reserved;

  private int missing;

  /** Bytes of documents that are kept until their attachments are looked for. */
  private int namedBytes;

  /**
   * What one server's replications hold in memory.
   *
   * @param kilobytes for documents that are larger than a batch
   * @param pages kilobytes for pages of changes that are larger than usual
   * @param mostBytes how many bytes a document may have without its attachments
   */
  record Limits(Semaphore kilobytes, Semaphore pages, int mostBytes) {
    /**
     * Has as much for documents as one of the longest takes.
     *
     * @param pages memory for pages of changes, in bytes
     */
    static Limits of(int mostBytes, long pages) {
      return new Limits(
          new Semaphore(mostBytes / KILOBYTE + 1),
          new Semaphore((int) Math.min(Integer.MAX_VALUE, pages / KILOBYTE)),
          mostBytes);
    }
  }

  /**
   * A missing revision.
   *
   * @param known revisions before it that the target has
   * @param named the document, if its attachments may be taken from elsewhere in the target
   */
  record Wanted(String id, String revision, List<String> known, Optional<SentDocument> named) {}

  BatchCopy(
      Source source,
      Target target,
      ReplicationRequest.Options options,
      ReplicationStatistics statistics,
      Limits limits,
      BooleanSupplier isStopped) {
    this.source = source;
    this.target = target;
    this.options = options;
    this.statistics = statistics;
    this.limits = limits;
    this.isStopped = isStopped;
  }

  /**
   * Copies what is missing, but for documents that have to be copied alone. When this returns, each
   * other revision is stored or was refused for good.
   *
   * @param changes the changed leaves of documents, and some of these documents
   * @param room is asked before documents are kept for {@link #copyAlone}, with all their bytes
   * @return what is left to {@link #copyAlone}, document by document
   */
  Collection<List<Wanted>> copy(ChangesPage changes, IntPredicate room) throws IOException {
    int checked = changes.revisions().values().stream().mapToInt(List::size).sum();
    statistics.add(Count.MISSING_CHECKED, checked);
    List<Wanted> wanted = left(changes);
    if (wanted.isEmpty()) {
      flush();
      return List.of();
    }
    List<Wanted> sent =
        source instanceof LocalDatabase from && target instanceof LocalDatabase to
            ? copyStored(from, to, wanted)
            : wanted;
    List<Wanted> alone = options.usesBulkGet() && !sent.isEmpty() ? copyMany(sent, room) : sent;
    flush();
    return byDocument(alone).values();
  }

  int missing() {
    return missing;
  }

  /** Takes the documents that came with their changes, and returns what else is missing. */
  private List<Wanted> left(ChangesPage changes) {
    if (changes.documents().isEmpty()) {
      return found(target.missing(changes.revisions()));
    }
    Map<String, List<String>> others = new LinkedHashMap<>(changes.revisions());
    Map<String, SentDocument> came = new HashMap<>();
    List<SentDocument> unasked = new ArrayList<>();
    boolean asks = !target.tellsKnown();
    for (SentDocument document : changes.documents()) {
      if (asks || document.isDesign()) {
        came.put(document.id(), document);
      } else {
        // Whether it is there already is looked at where it is stored.
        unasked.add(document);
        others.remove(document.id());
      }
    }
    takeUnasked(unasked);
    if (others.isEmpty()) {
      return List.of();
    }
    List<Wanted> left = new ArrayList<>();
    for (Wanted each : found(target.missing(others))) {
      Optional<SentDocument> document = Optional.ofNullable(came.get(each.id()));
      document.ifPresentOrElse(this::take, () -> left.add(each));
    }
    return left;
  }

  private List<Wanted> found(List<Wanted> some) {
    missing += some.size();
    statistics.add(Count.MISSING_FOUND, some.size());
    return some;
  }

  private void takeUnasked(List<SentDocument> documents) {
    Arrived arrived = target.write(documents);
    int found = documents.size() - arrived.known();
    missing += found;
    statistics.add(Count.MISSING_FOUND, found);
    statistics.add(Count.DOCS_READ, found);
    statistics.add(Count.DOCS_WRITTEN, found - arrived.refused().size());
    statistics.refused(arrived.refused());
  }

  /** Copies small leaves between databases of one store without JSON; returns the others. */
  private List<Wanted> copyStored(LocalDatabase from, LocalDatabase to, List<Wanted> wanted) {
    List<Wanted> others = new ArrayList<>();
    List<ReplicatedEdit> edits = new ArrayList<>();
    long bytes = 0;
    ReadAhead ahead = new ReadAhead(FIRST_READ, READ_TOGETHER, WRITTEN_BYTES);
    int at = 0;
    while (at < wanted.size()) {
      List<Wanted> some = wanted.subList(at, Math.min(wanted.size(), at + ahead.size()));
      List<Optional<ReplicatedEdit>> found = from.edits(some);
      long before = bytes;
      for (int i = 0; i < found.size(); i++) {
        if (found.get(i).isEmpty()) {
          others.add(some.get(i));
        } else {
          edits.add(found.get(i).get());
          bytes += memoryBytes(found.get(i).get());
        }
      }
      ahead.took(some.size(), bytes - before);
      at += some.size();
      if (bytes > WRITTEN_BYTES || edits.size() >= WRITTEN_DOCUMENTS) {
        store(to, edits);
        bytes = 0;
      }
    }
    store(to, edits);
    return others;
  }

  private static long memoryBytes(ReplicatedEdit edit) {
    return edit.body().memoryBytes() + (long) REVISION_BYTES * edit.path().ancestors().size();
  }

  private void store(LocalDatabase to, List<ReplicatedEdit> edits) {
    if (edits.isEmpty()) {
      return;
    }
    statistics.add(Count.DOCS_READ, edits.size());
    statistics.add(Count.BULK_GET_ATTEMPTS, edits.size());
    statistics.add(Count.BULK_GET_DOCS, edits.size());
    List<Refusal> refused = to.store(edits);
    statistics.add(Count.DOCS_WRITTEN, edits.size() - refused.size());
    statistics.refused(refused);
    edits.clear();
  }

  private static Map<String, List<Wanted>> byDocument(List<Wanted> wanted) {
    Map<String, List<Wanted>> all = new LinkedHashMap<>();
    wanted.forEach(each -> all.computeIfAbsent(each.id(), id -> new ArrayList<>()).add(each));
    return all;
  }

  /** Returns those that have to be fetched alone: they have attachments, or were not found. */
  private List<Wanted> copyMany(List<Wanted> wanted, IntPredicate room) throws IOException {
    statistics.add(Count.BULK_GET_ATTEMPTS, wanted.size());
    Optional<InputStream> answer = source.bulkGet(request(wanted), true);
    if (answer.isEmpty()) {
      return wanted;
    }
    List<Wanted> alone = new ArrayList<>();
    int done = 0;
    try (InputStream in = answer.get()) {
      RawElements results =
          new RawElements(in, Optional.of("results"), limits.mostBytes(), this::reserve);
      for (Optional<byte[]> result = results.next(); result.isPresent(); result = results.next()) {
        if (done == wanted.size()) {
          throw new IOException("More results than were asked for.");
        }
        Wanted each = wanted.get(done);
        Optional<SentDocument> document = document(result.get(), each.id());
        if (document.isPresent() && document.get().attachments().isEmpty()) {
          statistics.add(Count.BULK_GET_DOCS, 1);
          take(document.get());
        } else {
          alone.add(named(each, document, room));
        }
        done++;
      }
    } catch (IOException cut) {
      if (isStopped.getAsBoolean() || done == wanted.size()) {
        throw cut;
      }
    } finally {
      free();
    }
    // What has not come is fetched alone, and that is repeated.
    alone.addAll(wanted.subList(done, wanted.size()));
    return alone;
  }

  /** Keeps a small document whose attachments the target may have. */
  private Wanted named(Wanted wanted, Optional<SentDocument> document, IntPredicate room) {
    int bytes = document.map(it -> NAMED_COPIES * it.json().length).orElse(0);
    boolean isKept =
        document.isPresent()
            && document.get().json().length <= MAX_NAMED_BYTES
            && document.get().isNamed()
            && target.takesNamedStubs()
            && room.test(namedBytes + bytes);
    if (!isKept) {
      return wanted;
    }
    namedBytes += bytes;
    return new Wanted(wanted.id(), wanted.revision(), wanted.known(), document);
  }

  private static byte[] request(List<Wanted> wanted) {
    JsonBuffer out = new JsonBuffer(64 * wanted.size());
    return out.ascii("{\"docs\":[")
        .each(
            wanted,
            each -> {
              out.ascii("{\"id\":").string(each.id());
              out.ascii(",\"rev\":").string(each.revision()).octet('}');
            })
        .ascii("]}")
        .toBytes();
  }

  /** Returns the only document of a result; empty if it has an error, or several documents. */
  private static Optional<SentDocument> document(byte[] result, String id) throws IOException {
    RawJson json = new RawJson(result);
    Optional<SentDocument> only = Optional.empty();
    json.open('{');
    while (json.nextMember()) {
      if (json.isNamed("docs")) {
        json.open('[');
        int count = 0;
        for (; json.nextElement(); count++) {
          only = ok(json);
        }
        only = count == 1 ? only : Optional.empty();
      } else {
        json.skip();
      }
    }
    return only.filter(document -> document.id().equals(id));
  }

  private static Optional<SentDocument> ok(RawJson json) throws IOException {
    Optional<SentDocument> document = Optional.empty();
    json.open('{');
    while (json.nextMember()) {
      if (json.isNamed("ok")) {
        document = Optional.of(SentDocument.of(json));
      } else {
        json.skip();
      }
    }
    return document;
  }

  /** Takes a document that is whole. */
  private void take(SentDocument document) {
    statistics.add(Count.DOCS_READ, 1);
    boolean isLarge = document.json().length > WRITTEN_BYTES;
    if (isLarge || heldBytes + document.json().length > WRITTEN_BYTES) {
      flush();
    }
    held.add(document);
    heldBytes += document.json().length;
    if (isLarge || held.size() >= WRITTEN_DOCUMENTS) {
      flush();
    }
    free();
  }

  /** Reserves memory for a document that is larger than a batch. */
  private void reserve(int bytes) throws IOException {
    int more = bytes / KILOBYTE - reserved;
    if (bytes <= WRITTEN_BYTES || more <= 0) {
      return;
    }
    try {
      if (!limits.kilobytes().tryAcquire(more, MEMORY_SECONDS, TimeUnit.SECONDS)) {
        throw new IOException("Other large documents take all of the memory.");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException();
    }
    reserved += more;
  }

  private void free() {
    limits.kilobytes().release(reserved);
    reserved = 0;
  }

  private void flush() {
    if (held.isEmpty()) {
      return;
    }
    List<SentDocument> now = List.copyOf(held);
    held.clear();
    heldBytes = 0;
    List<Refusal> refused = target.write(now).refused();
    statistics.add(Count.DOCS_WRITTEN, now.size() - refused.size());
    statistics.refused(refused);
  }

  void copyAlone(List<Wanted> wanted) throws IOException {
    List<Wanted> left = new ArrayList<>();
    Set<String> held = new LinkedHashSet<>();
    for (Wanted each : wanted) {
      if (each.named().isEmpty() || !isStored(each.named().get(), held)) {
        left.add(each);
      }
    }
    if (!left.isEmpty()) {
      fetchAlone(left, held);
    }
  }

  /**
   * Stores a document whose attachments are named; false if the target lacks one of them.
   *
   * @param held receives the digests of the others
   */
  private boolean isStored(SentDocument document, Set<String> held) {
    Optional<Refusal> refused;
    try {
      refused = target.write(document, Optional::empty);
    } catch (IOException cut) {
      // What follows is repeated.
      return false;
    }
    Optional<Refusal> lacking = refused.filter(it -> it.error().equals(Refusal.MISSING_STUB));
    if (lacking.isEmpty()) {
      statistics.add(Count.DOCS_READ, 1);
      count(refused);
    } else if (!lacking.get().missing().isEmpty()) {
      held.addAll(document.digestsBut(lacking.get().missing()));
    }
    return lacking.isEmpty();
  }

  private void count(Optional<Refusal> refused) {
    statistics.add(Count.DOCS_WRITTEN, refused.isPresent() ? 0 : 1);
    statistics.refused(refused.stream().toList());
  }

  /** Begins anew if something is cut off. */
  private void fetchAlone(List<Wanted> wanted, Set<String> held) throws IOException {
    String id = wanted.get(0).id();
    Had had = new Had(fitting(wanted.get(0).known()), fitting(held));
    for (int failures = 0; ; ) {
      try {
        for (List<String> some : portions(wanted)) {
          fetch(id, some, had);
        }
        flush();
        return;
      } catch (TooLongDocument refused) {
        refuseTooLong(id);
        return;
      } catch (IOException cut) {
        boolean hadStubs = !had.isNothing();
        if ((failures >= options.retries() && !hadStubs) || isStopped.getAsBoolean()) {
          throw failed(id, cut);
        }
        if (!hadStubs || cut.getCause() instanceof RemoteFailure) {
          long asked = cut.getCause() instanceof RemoteFailure busy ? busy.pauseMillis() : 0;
          CouchClient.pause(failures, asked, isStopped);
        }
        // A stub may stand for what the target has lost, or has otherwise. Without stubs is no
        // repetition.
        failures += hadStubs ? 0 : 1;
        had = Had.NOTHING;
      }
    }
  }

  private static IOException failed(String id, IOException cut) {
    Throwable known = cut.getCause() instanceof RemoteFailure failure ? failure : cut;
    return new IOException(
        "The document `" + id + "` cannot be copied: " + known.getMessage(), cut);
  }

  /** This server stores none that is so long. Whether another one would is not known. */
  private void refuseTooLong(String id) {
    String what = "document_too_large";
    String size = "more than " + limits.mostBytes() + " bytes";
    if (!(target instanceof LocalDatabase)) {
      throw ReplicationFailure.passing(
          what, "The document `" + id + "` cannot be held, it has " + size + ".");
    }
    statistics.refused(List.of(new Refusal(id, what, "It has " + size + ".")));
  }

  /** Returns as many as fit beside those that are wanted. The attachments of others come again. */
  private static List<String> fitting(Collection<String> known) {
    List<String> some = new ArrayList<>();
    int length = 0;
    for (String each : known) {
      length += each.length() + 9;
      if (length > MAX_HEADER_BYTES / 4) {
        break;
      }
      some.add(each);
    }
    return some;
  }

  /** So many revisions at a time as fit into the head of a request. */
  private static List<List<String>> portions(List<Wanted> wanted) {
    List<List<String>> all = new ArrayList<>();
    List<String> current = new ArrayList<>();
    int length = 0;
    for (Wanted each : wanted) {
      length += each.revision().length() + 9;
      if (length > MAX_HEADER_BYTES / 2 && !current.isEmpty()) {
        all.add(current);
        current = new ArrayList<>();
        length = each.revision().length();
      }
      current.add(each.revision());
    }
    all.add(current);
    return all;
  }

  private void fetch(String id, List<String> revisions, Had had) throws IOException {
    OpenRevisions opened = source.open(id, revisions, had);
    int found = 0;
    int lost = 0;
    try (InputStream in = opened.body()) {
      if (opened.boundary().isEmpty()) {
        RawElements elements =
            new RawElements(in, Optional.empty(), limits.mostBytes(), this::reserve);
        for (Optional<byte[]> each = elements.next(); each.isPresent(); each = elements.next()) {
          boolean isFound = takeJson(each.get());
          found += isFound ? 1 : 0;
          lost += isFound ? 0 : 1;
        }
      } else {
        PartReader parts = new PartReader(in, opened.boundary().get());
        for (String headers = parts.next(); headers != null; headers = parts.next()) {
          boolean isFound = takePart(headers, parts.content());
          found += isFound ? 1 : 0;
          lost += isFound ? 0 : 1;
        }
      }
    } finally {
      free();
    }
    // What is passed by now comes with no later change.
    if (found == 0 || lost > 0) {
      throw new IOException("The source has lost revisions of a document that it announced.");
    }
  }

  /** Returns false if the element says that a revision is missing. */
  private boolean takeJson(byte[] element) throws IOException {
    Optional<SentDocument> document = ok(new RawJson(element));
    if (document.isPresent()) {
      take(document.get());
    }
    return document.isPresent();
  }

  /** Returns false if the part says that a revision is missing. */
  private boolean takePart(String headers, InputStream content) throws IOException {
    String type = header(headers, "content-type");
    if (!type.toLowerCase(Locale.ROOT).startsWith(RelatedDocument.MEDIA_TYPE)) {
      byte[] json = whole(content);
      boolean isError = type.contains("error=");
      if (!isError) {
        takeWithStubs(SentDocument.of(new RawJson(json)));
      }
      return !isError;
    }
    PartReader inner = new PartReader(content, boundary(type));
    if (inner.next() == null) {
      throw new IOException("A part without a document.");
    }
    writeAlone(SentDocument.of(new RawJson(whole(inner.content()))), attachments(inner));
    return true;
  }

  /** A document all of whose attachments the target should have goes alone, for it may err. */
  private void takeWithStubs(SentDocument document) throws IOException {
    if (document.hasStubs()) {
      writeAlone(document, Optional::empty);
    } else {
      take(document);
    }
  }

  private void writeAlone(SentDocument document, AttachmentParts parts) throws IOException {
    statistics.add(Count.DOCS_READ, 1);
    flush();
    Optional<Refusal> refused = target.write(document, parts);
    free();
    if (refused.filter(it -> it.error().equals(Refusal.MISSING_STUB)).isPresent()) {
      throw new IOException("A stub of an attachment stands for nothing.");
    }
    count(refused);
  }

  private static AttachmentParts attachments(PartReader parts) {
    return () -> {
      String headers = parts.next();
      return headers == null
          ? Optional.empty()
          : Optional.of(new AttachmentPart(names(headers), parts.content()));
    };
  }

  private static Set<String> names(String headers) {
    return RelatedDocument.fileNames(headers);
  }

  private byte[] whole(InputStream in) throws IOException {
    byte[] json = new byte[8 * KILOBYTE];
    int length = 0;
    for (int read = 0; read >= 0; read = in.read(json, length, json.length - length)) {
      length += read;
      if (length > limits.mostBytes()) {
        throw new TooLongDocument(limits.mostBytes());
      }
      if (length == json.length) {
        int more = (int) Math.min(2L * length, limits.mostBytes() + 1L);
        reserve(more);
        json = Arrays.copyOf(json, more);
      }
    }
    return Arrays.copyOf(json, length);
  }

  private static String header(String headers, String name) {
    return headers
        .lines()
        .filter(line -> line.toLowerCase(Locale.ROOT).startsWith(name + ':'))
        .map(line -> line.substring(name.length() + 1).strip())
        .findFirst()
        .orElse("");
  }

  /** Returns the boundary that a Content-Type names. */
  static String boundary(String contentType) throws IOException {
    String boundary = MediaType.parse(contentType).parameters().get("boundary");
    if (boundary == null || boundary.isEmpty()) {
      throw new IOException("An answer of several parts without a boundary.");
    }
    return boundary;
  }

  /**
   * The parts of a body of several (RFC 2046, section 5.1.1), read one after the other as streams,
   * so that a part which has parts itself is read in the same way.
   */
  private static final class PartReader {
    private static final int MAX_HEADER_BYTES = 16 << 10;
    private static final int WINDOW = 32 << 10;

    private final InputStream in;
    private final byte[] delimiter;

    /** A line break before the first delimiter, which may stand at the very beginning. */
    private final byte[] window = new byte[WINDOW];

    private int from;
    private int to;
    private boolean ended;
    private Content current;

    PartReader(InputStream in, String boundary) {
      this.in = in;
      this.delimiter = ("\r\n--" + boundary).getBytes(StandardCharsets.ISO_8859_1);
      window[0] = '\r';
      window[1] = '\n';
      to = 2;
      current = new Content();
    }

    /**
     * Goes to the next part.
     *
     * @return its headers as they came; null behind the last part
     */
    String next() throws IOException {
      current.skip();
      if (ended) {
        return null;
      }
      int behind = delimiter.length + 2;
      require(behind);
      from += delimiter.length;
      if (window[from] == '-' && window[from + 1] == '-') {
        ended = true;
        while (in.read(window, 0, WINDOW) >= 0) {
          // What follows is of no interest.
        }
        return null;
      }
      current = new Content();
      return headers();
    }

    InputStream content() {
      return current;
    }

    private String headers() throws IOException {
      int blanks = from;
      while (true) {
        for (int at = blanks; at + 3 < to; at++) {
          boolean isEnd =
              window[at] == '\r'
                  && window[at + 1] == '\n'
                  && window[at + 2] == '\r'
                  && window[at + 3] == '\n';
          if (isEnd) {
            String headers = new String(window, from, at - from, StandardCharsets.ISO_8859_1);
            from = at + 4;
            return headers.strip();
          }
        }
        blanks = Math.max(from, to - 3);
        if (to - from > MAX_HEADER_BYTES) {
          throw new IOException("The headers of a part are too long.");
        }
        int already = from;
        more();
        blanks -= already - from;
      }
    }

    private void require(int bytes) throws IOException {
      while (to - from < bytes) {
        more();
      }
    }

    /** Reads something behind what is there. */
    private void more() throws IOException {
      if (from > 0) {
        System.arraycopy(window, from, window, 0, to - from);
        to -= from;
        from = 0;
      }
      int read = in.read(window, to, window.length - to);
      if (read < 0) {
        throw new IOException("A body of several parts ends early.");
      }
      to += read;
    }

    /** Returns where the delimiter begins, or may begin; {@link #to} if it does not. */
    private int delimiterAt() {
      for (int at = from; at < to; at++) {
        int length = Math.min(delimiter.length, to - at);
        if (window[at] == delimiter[0]
            && Arrays.equals(window, at, at + length, delimiter, 0, length)) {
          return at;
        }
      }
      return to;
    }

    private boolean isDelimiter(int at) {
      return to - at >= delimiter.length;
    }

    /** What is before the next delimiter. */
    private final class Content extends InputStream {
      private boolean isOver;

      void skip() throws IOException {
        byte[] ignored = new byte[4 << 10];
        while (!isOver && read(ignored, 0, ignored.length) >= 0) {
          // Nobody has read it.
        }
      }

      @Override
      public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
      }

      @Override
      public int read(byte[] into, int offset, int length) throws IOException {
        if (isOver || length == 0) {
          return isOver ? -1 : 0;
        }
        int end = delimiterAt();
        while (end == from) {
          if (to > from && isDelimiter(end)) {
            isOver = true;
            return -1;
          }
          more();
          end = delimiterAt();
        }
        int taken = Math.min(length, end - from);
        System.arraycopy(window, from, into, offset, taken);
        from += taken;
        return taken;
      }
    }
  }
}
