package lectus.replication;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import lectus.account.UserDocumentRule.UserRights;
import lectus.attachment.AttachmentIntake;
import lectus.attachment.AttachmentUpload;
import lectus.attachment.ContentId;
import lectus.changes.filter.FeedFilter;
import lectus.changes.filter.FunctionFilter;
import lectus.changes.page.ChangesReader;
import lectus.changes.page.DatabaseInfo;
import lectus.changes.page.DatabaseNotifications;
import lectus.changes.page.FeedEnd;
import lectus.changes.page.FeedOptions;
import lectus.changes.page.FeedPosition;
import lectus.changes.page.FeedText;
import lectus.changes.page.LivePage;
import lectus.changes.page.LiveSource;
import lectus.changes.page.LiveSource.LiveStart;
import lectus.changes.page.Registration;
import lectus.changes.page.Since;
import lectus.changes.page.TouchedShards;
import lectus.database.Catalogue;
import lectus.database.CreationOptions;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.Sequence;
import lectus.database.UserContext;
import lectus.database.UserContext.DatabaseRight;
import lectus.document.AttachmentsShown;
import lectus.document.DocumentId;
import lectus.document.PagedBody;
import lectus.document.edit.AttachmentEdits;
import lectus.document.edit.AttachmentEdits.InlineAttachments;
import lectus.document.edit.DocumentParser;
import lectus.document.edit.Edit;
import lectus.document.edit.EditedAttachment;
import lectus.document.edit.NamedRevisions;
import lectus.document.edit.ReplicatedEdit;
import lectus.document.read.BulkGet;
import lectus.document.read.BulkGetJson;
import lectus.document.read.DocumentQuery;
import lectus.document.read.DocumentReader;
import lectus.document.read.LocalDocuments;
import lectus.document.read.RevisionsDiff;
import lectus.document.write.EditOutcome;
import lectus.document.write.Writes;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.Boundary;
import lectus.http.MultipartOpenRevisions;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.replication.BatchCopy.Wanted;
import lectus.replication.ReplicationRequest.Choice;
import lectus.replication.ReplicationRequest.Options;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.Fence;

/** A database of this store, read and written for a user without HTTP. */
public final class LocalDatabase implements Source, Target {
  private static final String LOCAL = "_local/";
  private static final String MISSING = "missing";
  private static final String DESIGN_DOCUMENTS = "_design";
  private static final int COPIED_AT_ONCE = 32 << 10;

  private final LocalParts parts;
  private final DatabaseName name;
  private final Choice choice;
  private final Options options;
  private final LocalUse use;
  private final UserContext user;
  private final DatabaseRequest asked;

  /**
   * What reads and writes databases.
   *
   * @param functions opens feeds that functions of design documents filter
   */
  public record LocalParts(
      Catalogue catalogue,
      DatabaseInfo info,
      ChangesReader changes,
      DatabaseNotifications events,
      DocumentParser parser,
      DocumentReader reader,
      LocalDocuments local,
      BulkGet bulkGet,
      RevisionsDiff revisionsDiff,
      AttachmentIntake attachments,
      Writes writes,
      UserRights rights,
      FunctionFeeds functions) {}

  /** The functions of design documents, which are asked outside of transactions. */
  public interface FunctionFeeds {
    /**
     * Opens a feed.
     *
     * @param filter a function, or {@code _view}
     * @throws LectusException {@code not_found}: there is no such function
     */
    LiveStart<FeedPosition> open(
        DatabaseRequest asked,
        UserContext user,
        Choice.OfFilter filter,
        Function<FunctionFilter, LiveStart<FeedPosition>> opening);
  }

  /**
   * Who uses databases, and how.
   *
   * @param user for whom everything is done
   * @param executor whose threads may wait
   * @param isStopped whether nobody wants an answer any more
   * @param fence what must hold wherever an edit is stored
   */
  record LocalUse(
      UserContext user, Executor executor, BooleanSupplier isStopped, Optional<Fence> fence) {}

  LocalDatabase(LocalParts parts, DatabaseName name, Choice choice, Options options, LocalUse use) {
    this.parts = parts;
    this.name = name;
    this.choice = choice;
    this.options = options;
    this.use = use;
    this.user = use.user();
    this.asked = new DatabaseRequest(name, this::requireRight);
  }

  /** Whoever reads or writes all of a system's database has to be an admin of it. */
  private void requireRight(DatabaseHandle db) {
    boolean isOfSystem =
        name.isSystem() || name.text().endsWith("/_users") || name.text().endsWith("/_replicator");
    DatabaseRight has = parts.rights().of(user, db);
    if (isOfSystem && !has.includes(DatabaseRight.ADMIN)) {
      throw new LectusException(user.notAdmin());
    }
    if (!has.includes(DatabaseRight.MEMBER)) {
      throw new LectusException(user.notMember());
    }
  }

  @Override
  public String shown() {
    return name.text();
  }

  @Override
  public JsonObject info() {
    try {
      JsonBuffer out = new JsonBuffer(512);
      parts.info().append(asked, out);
      return (JsonObject) JsonValue.parse(out.toBytes());
    } catch (LectusException failure) {
      throw failure.error() instanceof LectusError.NotFound
          ? new ReplicationFailure(ReplicationFailure.NOT_FOUND, "db_not_found", whyNot())
          : failure;
    }
  }

  /** One that has moved is to be named by its URL. */
  private String whyNot() {
    return "could not open "
        + name
        + parts
            .catalogue()
            .locate(name)
            .flatMap(DatabaseHandle::moved)
            .map(it -> ", which has moved to " + it.place())
            .orElse("");
  }

  @Override
  public Optional<JsonObject> local(String id) {
    try {
      JsonBuffer out = new JsonBuffer(1_024);
      parts.local().read(asked, LOCAL + id, out);
      return Optional.of((JsonObject) JsonValue.parse(out.toBytes()));
    } catch (LectusException failure) {
      if (failure.error() instanceof LectusError.NotFound none && none.reason().equals(MISSING)) {
        return Optional.empty();
      }
      throw failure;
    }
  }

  @Override
  public String save(String id, JsonObject body) {
    Edit edit = parts.parser().local(LOCAL + id, NamedRevisions.NONE, body.toBytes());
    EditOutcome outcome = written(List.of(edit)).get(0);
    if (outcome instanceof EditOutcome.Written stored) {
      return stored.revision().toString();
    }
    if (outcome instanceof EditOutcome.Failed failed
        && failed.error() instanceof LectusError.Conflict conflict) {
      throw new ReplicationFailure(
          ReplicationFailure.CONFLICT, conflict.error(), conflict.reason());
    }
    throw new LectusException(
        outcome instanceof EditOutcome.Failed failed
            ? failed.error()
            : new LectusError.Internal("A checkpoint was not written."));
  }

  /** Whatever is written is durable. */
  @Override
  public Optional<String> commit() {
    return info().textOf("instance_start_time");
  }

  @Override
  public CompletableFuture<byte[]> changes(Asked wanted) {
    if (!wanted.waits()) {
      return page(wanted);
    }
    Waking waking = new Waking();
    Registration registration = parts.events().listen(parts.catalogue().open(name), waking);
    waking.whenComplete((told, failure) -> registration.close());
    CompletableFuture<byte[]> now;
    try {
      now = page(wanted);
    } catch (RuntimeException | Error failure) {
      waking.cancel(false);
      throw failure;
    }
    CompletableFuture<byte[]> rows =
        now.thenCompose(
            page ->
                hasRows(page)
                    ? now
                    : waking.thenComposeAsync(told -> page(wanted), use.executor()));
    rows.whenComplete(
        (page, failure) -> {
          waking.cancel(false);
          now.cancel(false);
        });
    return rows;
  }

  private static boolean hasRows(byte[] page) {
    return JsonValue.parse(page) instanceof JsonObject answer
        && answer.get("results").orElse(null) instanceof JsonArray rows
        && !rows.elements().isEmpty();
  }

  private CompletableFuture<byte[]> page(Asked wanted) {
    ChangesReader changes = parts.changes().readBy(user);
    Since<FeedPosition> since = FeedPosition.since(wanted.position());
    FeedOptions shown =
        new FeedOptions(
            !options.winnersOnly(),
            false,
            false,
            AttachmentsShown.STUBS,
            filter(),
            1,
            List.of(),
            wanted.withDocuments());
    if (choice instanceof Choice.OfFilter some && !some.name().equals(DESIGN_DOCUMENTS)) {
      LiveStart<FeedPosition> start =
          parts
              .functions()
              .open(
                  asked,
                  user,
                  some,
                  function ->
                      changes.live(name, shown.filteredBy(function), since, parts.events()));
      return new FilteredPage(start, wanted.limit(), use.executor()).read();
    }
    PagedBody pages = changes.answer(name, shown, since, wanted.limit());
    JsonBuffer out = new JsonBuffer(8 << 10);
    boolean more = true;
    while (more) {
      if (use.isStopped().getAsBoolean()) {
        // Of a large database few documents may be chosen.
        throw new CancellationException();
      }
      more = pages.appendNext(out);
    }
    return CompletableFuture.completedFuture(out.toBytes());
  }

  private FeedFilter filter() {
    if (choice instanceof Choice.Ids some) {
      return new FeedFilter.DocumentIds(Set.copyOf(some.ids()));
    }
    if (choice instanceof Choice.OfSelector some) {
      return FeedFilter.selected(some.selector());
    }
    return choice instanceof Choice.OfFilter some && some.name().equals(DESIGN_DOCUMENTS)
        ? new FeedFilter.DesignDocuments()
        : new FeedFilter.None();
  }

  /**
   * The answer with changes that a function filters. The function is asked about few documents at a
   * time, so the answer is put together of several pages; no thread waits for the function.
   */
  private static final class FilteredPage {
    private static final long PAUSE_MILLIS = 500;

    private final LiveStart<FeedPosition> start;
    private final int limit;
    private final Executor executor;
    private final JsonBuffer out = new JsonBuffer(8 << 10);
    private final CompletableFuture<byte[]> whole = new CompletableFuture<>();
    private FeedPosition at;
    private int rows;

    FilteredPage(LiveStart<FeedPosition> start, int limit, Executor executor) {
      this.start = start;
      this.limit = limit;
      this.executor = executor;
      this.at = start.from();
      FeedText.appendHead(out);
      whole.whenComplete((page, failure) -> start.closing().run());
    }

    CompletableFuture<byte[]> read() {
      if (!whole.isDone()) {
        try {
          start.source().nextPage(at, limit - rows).whenCompleteAsync(this::take, executor);
        } catch (RuntimeException | Error failure) {
          take(null, failure);
        }
      }
      return whole;
    }

    private void take(LivePage<FeedPosition> page, Throwable failure) {
      try {
        if (failure != null) {
          failed(failure);
        } else {
          took(page);
        }
      } catch (Throwable cause) {
        whole.completeExceptionally(cause);
      }
    }

    private void failed(Throwable failure) {
      Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
      if (LiveSource.passes(cause)) {
        CompletableFuture.delayedExecutor(PAUSE_MILLIS, TimeUnit.MILLISECONDS, executor)
            .execute(this::read);
      } else {
        whole.completeExceptionally(cause);
      }
    }

    private void took(LivePage<FeedPosition> page) {
      page.end()
          .flatMap(FeedEnd::error)
          .ifPresent(
              error -> {
                throw new LectusException(error);
              });
      for (int row = 0; row < page.rows().size(); row++, rows++) {
        if (rows > 0) {
          FeedText.appendSeparator(out);
        }
        out.raw(page.rows().json(), page.rows().start(row), page.rows().end(row));
      }
      at = page.next();
      if (!page.reachedEnd() && rows < limit) {
        read();
        return;
      }
      FeedText.appendTail(at, page.reachedEnd() ? 0 : start.source().pendingBehind(at), out);
      whole.complete(out.toBytes());
    }
  }

  /** Completes when there may be a change. */
  private static final class Waking extends CompletableFuture<Void>
      implements DatabaseNotifications.Listener {
    @Override
    public void updated(Sequence highest, TouchedShards shards) {
      complete(null);
    }

    @Override
    public void deleted() {
      complete(null);
    }
  }

  @Override
  public Optional<InputStream> bulkGet(byte[] request, boolean named) {
    return Optional.of(
        new PagedInput(
            parts
                .bulkGet()
                .answer(
                    asked,
                    request,
                    true,
                    true,
                    named ? AttachmentsShown.NAMED : AttachmentsShown.STUBS,
                    new BulkGetJson())));
  }

  @Override
  public OpenRevisions open(String id, List<String> revisions, Had had) {
    Boundary boundary = Boundary.random();
    Set<ContentId> held =
        had.contents().stream()
            .flatMap(it -> ContentId.ofDigest(it).stream())
            .collect(Collectors.toSet());
    AttachmentsShown all = AttachmentsShown.STUBS.holding(held);
    AttachmentsShown shown =
        had.revisions().isEmpty()
            ? all
            : all.since(had.revisions().stream().map(RevisionId::of).toList());
    PagedBody body =
        parts
            .reader()
            .openRevisions(
                asked,
                id,
                new lectus.document.read.OpenRevisions(
                    Optional.of(revisions.stream().map(RevisionId::of).toList()),
                    true,
                    true,
                    shown.following()),
                new MultipartOpenRevisions(boundary));
    return new OpenRevisions(Optional.of(boundary.text()), new PagedInput(body));
  }

  @Override
  public Optional<JsonObject> design(String id) {
    return LectusException.unlessMissing(
        () -> {
          JsonBuffer out = new JsonBuffer(1_024);
          parts.reader().read(asked, id, DocumentQuery.DEFAULT, out);
          return (JsonObject) JsonValue.parse(out.toBytes());
        });
  }

  @Override
  public void create(JsonObject parameters) {
    if (!user.isServerAdmin()) {
      // As in CouchDB, even if it exists.
      throw new ReplicationFailure(
          ReplicationFailure.UNAUTHORIZED,
          "unauthorized",
          "unauthorized to access or create database " + name);
    }
    JsonValue partitioned = parameters.get("partitioned").orElse(null);
    boolean isPartitioned =
        (partitioned instanceof JsonBool flag && flag.value())
            || (partitioned instanceof JsonString text && text.value().equals("true"));
    try {
      DatabaseHandle db = parts.catalogue().create(name, new CreationOptions(isPartitioned, 1));
      parts.events().publishCreated(db.instance(), name);
    } catch (LectusException existing) {
      if (!(existing.error() instanceof LectusError.PreconditionFailed)) {
        throw existing;
      }
    }
  }

  @Override
  public List<Wanted> missing(Map<String, List<String>> revisions) {
    List<RevisionsDiff.Question> questions = new ArrayList<>(revisions.size());
    revisions.forEach(
        (id, some) ->
            questions.add(
                new RevisionsDiff.Question(id, some.stream().map(RevisionId::of).toList())));
    List<Wanted> wanted = new ArrayList<>(questions.size());
    for (RevisionsDiff.Missing missing : parts.revisionsDiff().missing(asked, questions)) {
      List<String> known = missing.ancestors().stream().map(RevisionId::toString).toList();
      missing
          .revisions()
          .forEach(
              it -> wanted.add(new Wanted(missing.id(), it.toString(), known, Optional.empty())));
    }
    return wanted;
  }

  @Override
  public Arrived write(List<SentDocument> documents) {
    DatabaseHandle db = parts.catalogue().open(name);
    List<Refusal> refused = new ArrayList<>();
    List<Edit> edits = new ArrayList<>();
    for (SentDocument document : documents) {
      try {
        edits.add(edit(db, document));
      } catch (LectusException refusal) {
        refused.add(refusal(document.id(), refusal.error()));
      }
    }
    List<EditOutcome> outcomes = edits.isEmpty() ? List.of() : written(edits);
    addRefused(outcomes, refused);
    long known = outcomes.stream().filter(EditOutcome.Unchanged.class::isInstance).count();
    return new Arrived((int) known, refused);
  }

  @Override
  public boolean tellsKnown() {
    return true;
  }

  @Override
  public boolean takesNamedStubs() {
    return true;
  }

  /** Returns what stores leaves in another database of this store, as {@link BulkGet#edits}. */
  List<Optional<ReplicatedEdit>> edits(List<Wanted> wanted) {
    return parts
        .bulkGet()
        .edits(
            asked,
            wanted.stream()
                .map(it -> new BulkGet.Leaf(it.id(), RevisionId.of(it.revision())))
                .toList());
  }

  /** Stores what another database of this store has, as {@link #write(List)}. */
  List<Refusal> store(List<ReplicatedEdit> edits) {
    DatabaseHandle db = parts.catalogue().open(name);
    List<Refusal> refused = new ArrayList<>();
    List<Edit> checked = new ArrayList<>(edits.size());
    for (ReplicatedEdit edit : edits) {
      try {
        DocumentId.checkIn(db, edit.id());
        checked.add(parts.parser().stored(edit));
      } catch (LectusException refusal) {
        refused.add(refusal(edit.id(), refusal.error()));
      }
    }
    if (!checked.isEmpty()) {
      addRefused(written(checked), refused);
    }
    return refused;
  }

  private Edit edit(DatabaseHandle db, SentDocument document) {
    DocumentId.checkIn(db, document.id());
    Edit edit = parts.parser().replicated(document.id(), NamedRevisions.NONE, document.json());
    return new InlineAttachments(parts.attachments()).stored(name, edit.by(user));
  }

  private static void addRefused(List<EditOutcome> outcomes, List<Refusal> refused) {
    for (EditOutcome outcome : outcomes) {
      if (outcome instanceof EditOutcome.Failed failed) {
        refused.add(refusal(failed.id(), failed.error()));
      }
    }
  }

  /**
   * Returns an error as a refusal for good.
   *
   * @throws LectusException it may pass, or is not the document's own
   */
  private static Refusal refusal(String id, LectusError error) {
    boolean isForGood =
        error instanceof LectusError.Forbidden
            || error instanceof LectusError.Unauthorized
            || error instanceof LectusError.BadRequest
            || error instanceof LectusError.TooLarge
            || error instanceof LectusError.MissingStub;
    if (!isForGood) {
      throw new LectusException(error);
    }
    List<String> missing =
        error instanceof LectusError.MissingStub stubs ? stubs.names() : List.of();
    return new Refusal(id, error.error(), error.reason(), missing);
  }

  /** Waits for the edits to be stored, together with those of others. */
  private List<EditOutcome> written(List<Edit> edits) {
    CompletableFuture<List<EditOutcome>> done = new CompletableFuture<>();
    long bytes = edits.stream().mapToLong(edit -> edit.body().memoryBytes()).sum();
    parts
        .writes()
        .writeAll(
            name,
            edits.stream().map(edit -> edit.by(user).within(use.fence())).toList(),
            bytes,
            new Writes.Completion() {
              @Override
              public void written(List<EditOutcome> outcomes) {
                done.complete(outcomes);
              }

              @Override
              public void failed(Throwable failure) {
                done.completeExceptionally(failure);
              }
            });
    return Awaiting.await(done);
  }

  @Override
  public Optional<Refusal> write(SentDocument document, AttachmentParts following)
      throws IOException {
    DatabaseHandle db = parts.catalogue().open(name);
    Edit edit;
    try {
      edit = withStored(edit(db, document), following);
    } catch (LectusException refused) {
      return Optional.of(refusal(document.id(), refused.error()));
    }
    List<Refusal> refused = new ArrayList<>();
    addRefused(written(List.of(edit)), refused);
    return refused.stream().findFirst();
  }

  private Edit withStored(Edit edit, AttachmentParts following) throws IOException {
    List<EditedAttachment> all = new ArrayList<>();
    for (EditedAttachment attachment : edit.attachments().all()) {
      all.add(
          attachment instanceof EditedAttachment.Following next
              ? stored(next, following)
              : attachment);
    }
    return edit.withAttachments(new AttachmentEdits(all));
  }

  private EditedAttachment stored(EditedAttachment.Following next, AttachmentParts following)
      throws IOException {
    AttachmentPart part =
        following
            .next()
            .filter(it -> it.names().isEmpty() || it.names().contains(next.name()))
            .orElseThrow(() -> new IOException("Attachments came in another order."));
    AttachmentUpload upload =
        parts.attachments().begin(name, next.name(), next.type(), next.gzipped());
    try {
      byte[] some = new byte[COPIED_AT_ONCE];
      for (int read = part.content().read(some); read >= 0; read = part.content().read(some)) {
        upload.write(some, 0, read);
      }
      return new EditedAttachment.Ready(
          upload.finish(next.md5(), next.position(), next.length()), true);
    } catch (IOException | RuntimeException | Error failure) {
      upload.abandon();
      throw failure;
    }
  }

  /** An answer that is made while it is read. */
  private static final class PagedInput extends InputStream {
    private final PagedBody body;
    private ByteArrayInputStream page = new ByteArrayInputStream(new byte[0]);
    private boolean more = true;

    PagedInput(PagedBody body) {
      this.body = body;
    }

    @Override
    public int read() {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int from, int length) {
      int read = page.read(into, from, length);
      while (read < 0 && more) {
        JsonBuffer next = new JsonBuffer(16 << 10);
        more = body.appendNext(next);
        page = new ByteArrayInputStream(next.array(), 0, next.length());
        read = page.read(into, from, length);
      }
      return read;
    }
  }
}
