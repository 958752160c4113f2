package lectus.http.admin;

import com.fasterxml.jackson.core.JsonToken;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lectus.account.Accounts;
import lectus.changes.page.DatabaseInfo;
import lectus.changes.page.DatabaseNotifications;
import lectus.changes.page.TouchedShards;
import lectus.database.Catalogue;
import lectus.database.DatabaseConfiguration;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.NameRange;
import lectus.database.Sequence;
import lectus.derived.FeedDefinition;
import lectus.derived.rows.FeedCatalogue;
import lectus.document.DocumentId;
import lectus.document.PagedBody;
import lectus.document.RequestJson;
import lectus.document.read.DocumentReader;
import lectus.document.write.AutoPurge;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.Method;
import lectus.http.Reply;
import lectus.http.admin.DbsInfoResource.NameQuery;
import lectus.http.auth.DatabaseGuard;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.Services;
import lectus.http.exchange.StreamedBody;
import lectus.json.JsonBuffer;
import lectus.json.JsonInput;
import lectus.store.TransactionRunner.CommitResult;

/** The resources of databases, of what belongs to each, and of lists of databases. */
public final class DatabaseApi {
  private final Services services;
  private final DatabaseGuard guard;

  public DatabaseApi(Services services, DatabaseGuard guard) {
    this.services = services;
    this.guard = guard;
  }

  /**
   * {@code /{db}}.
   *
   * @param creation answers a {@code POST}, which creates a document
   */
  public Resource database(Resource creation) {
    return new DatabaseResource(
        services.catalogue(), services.databaseInfo(), services.events(), creation);
  }

  /** Returns the resource for names that no document can have. */
  public Resource unusableName() {
    return new UnusableNameResource(services.catalogue());
  }

  public Map<String, Resource> atTop() {
    return Map.of(
        "_all_dbs",
        new AllDbsResource(services.catalogue(), guard),
        "_dbs_info",
        new DbsInfoResource(services.catalogue(), guard, services.databaseInfo()));
  }

  /**
   * Returns the resources below a database that answer for everything below their names.
   *
   * @param queries what answers for a partition, too, by name
   */
  public Map<String, Resource> trees(Map<String, Resource> queries) {
    return Map.of(
        "_partition",
            new PartitionResource(
                services.catalogue(), services.databaseInfo(), services.allDocs(), queries),
        "_compact", new CompactionResource(services.catalogue(), services.documents()),
        "_feeds", new FeedsResource(services.storedFeeds(), services.events()));
  }

  /** Returns the resources below a database, by name. */
  public Map<String, Resource> inDatabase() {
    Catalogue catalogue = services.catalogue();
    return Map.of(
        "_revs_limit", new RevsLimitResource(catalogue),
        "_security", new SecurityResource(catalogue, guard, services.events(), services.accounts()),
        "_view_cleanup", new ViewCleanupResource(catalogue),
        "_auto_purge", new AutoPurgeResource(services.databaseInfo().autoPurge()),
        "_purged_infos", new PurgedInfosResource(services.databaseInfo()),
        "_purged_infos_limit", new PurgedInfosLimitResource(catalogue),
        "_ensure_full_commit", new EnsureFullCommitResource(catalogue));
  }

  /** {@code /{db}/_purged_infos}: what was purged lately. */
  private record PurgedInfosResource(DatabaseInfo info) implements Resource {
    @Override
    public void serve(Exchange exchange) {
      DatabaseRequest database = exchange.database();
      switch (exchange.method()) {
        case GET, HEAD -> exchange.stream(() -> info.purges(database));
        default -> throw Requests.notAllowed("GET");
      }
    }
  }

  /** {@code /{db}/_ensure_full_commit}: every acknowledged write is on disk already. */
  private record EnsureFullCommitResource(Catalogue catalogue) implements Resource {
    @Override
    public void serve(Exchange exchange) {
      if (exchange.method() != Method.POST) {
        throw Requests.notAllowed("POST");
      }
      Requests.wantJson(exchange);
      DatabaseName database = exchange.databaseName();
      exchange.answerBody(ignored -> reply(catalogue.open(database).createdAtSeconds()));
    }

    private static Reply reply(long createdAtSeconds) {
      return Reply.json(201, "{\"ok\":true,\"instance_start_time\":\"" + createdAtSeconds + "\"}");
    }
  }

  /**
   * {@code /{db}/_view_cleanup}: removes indexes that no design document refers to. There are no
   * indexes.
   */
  private record ViewCleanupResource(Catalogue catalogue) implements Resource {
    @Override
    public void serve(Exchange exchange) {
      if (exchange.method() != Method.POST) {
        throw Requests.notAllowed("POST");
      }
      DatabaseName database = exchange.databaseName();
      exchange.answerBody(
          ignored -> {
            catalogue.open(database);
            return Reply.ok(202);
          });
    }
  }

  /** {@code /{db}/_auto_purge}: for how long tombstones are kept. */
  private record AutoPurgeResource(AutoPurge settings) implements Resource {
    @Override
    public void serve(Exchange exchange) {
      switch (exchange.method()) {
        case GET, HEAD -> {
          DatabaseRequest database = exchange.database();
          exchange.answer(() -> Reply.json(200, settings.get(database)));
        }
        case PUT -> {
          DatabaseName database = exchange.databaseName();
          exchange.answerBodyByChange(body -> put(database, body));
        }
        default -> throw Requests.notAllowed("GET,PUT,HEAD");
      }
    }

    private Reply put(DatabaseName database, byte[] body) {
      settings.put(database, body);
      return Reply.ok(201);
    }
  }

  /**
   * {@code /{db}/_compact} and {@code /{db}/_compact/{designDocument}}. Stores free their space by
   * themselves, so there is nothing to do; the client is told that compaction was started.
   */
  private record CompactionResource(Catalogue catalogue, DocumentReader documents)
      implements Resource {
    @Override
    public void serve(Exchange exchange) {
      if (exchange.method() != Method.POST) {
        throw Requests.notAllowed("POST");
      }
      Requests.wantJson(exchange);
      DatabaseRequest database = exchange.database();
      List<String> path = exchange.segments();
      exchange.answerBody(
          ignored -> path.size() == 2 ? database(database) : designDocument(database, path.get(2)));
    }

    private Reply database(DatabaseRequest database) {
      catalogue.open(database.name());
      return Reply.ok(202);
    }

    /**
     * @throws LectusException {@code not_found}: no design document has this name
     */
    private Reply designDocument(DatabaseRequest database, String name) {
      documents.currentRevision(database, DocumentId.DESIGN_PREFIX + name);
      return Reply.ok(202);
    }
  }

  /** {@code /_all_dbs}: the names of all databases that the user may read, page by page. */
  private record AllDbsResource(Catalogue catalogue, DatabaseGuard guard) implements Resource {
    @Override
    public void serve(Exchange exchange) {
      switch (exchange.method()) {
        case GET, HEAD -> {
          NameRange range = NameQuery.parse(exchange.query());
          VisibleNames names = new VisibleNames(catalogue, guard, exchange.user(), range);
          if (exchange.user().isServerAdmin()) {
            exchange.streamTagged(() -> StreamedBody.tagged(catalogue.version(), new Body(names)));
          } else {
            exchange.stream(() -> new Body(names));
          }
        }
        default -> throw Requests.notAllowed("GET,HEAD");
      }
    }

    private static final class Body implements PagedBody {
      private final VisibleNames names;
      private String separator = "[";

      Body(VisibleNames names) {
        this.names = names;
      }

      @Override
      public boolean appendNext(JsonBuffer out) {
        for (DatabaseName name : names.next()) {
          out.ascii(separator).string(name.text());
          separator = ",";
        }
        if (!names.hasNext()) {
          out.ascii(separator.equals("[") ? "[]\n" : "]\n");
        }
        return names.hasNext();
      }
    }
  }

  /** {@code /{db}/_purged_infos_limit}: the number of purges to remember. */
  private record PurgedInfosLimitResource(Catalogue catalogue) implements Resource {
    /** A long holds any number of this many digits. */
    private static final int MAX_DIGITS = 18;

    @Override
    public void serve(Exchange exchange) {
      DatabaseName database = exchange.databaseName();
      switch (exchange.method()) {
        case GET, HEAD -> exchange.answer(() -> get(database));
        case PUT -> exchange.answerBodyByChange(body -> put(database, limit(body)));
        default -> throw Requests.notAllowed("GET,PUT");
      }
    }

    private Reply get(DatabaseName database) {
      long limit = catalogue.open(database).configuration().purgedInfosLimit();
      return Reply.json(200, Long.toString(limit));
    }

    private Reply put(DatabaseName database, long limit) {
      catalogue.configure(database, before -> before.withPurgedInfosLimit(limit));
      return Reply.ok(200);
    }

    private static long limit(byte[] body) {
      try (JsonInput input = JsonInput.of(body)) {
        boolean isInteger = input.next() == JsonToken.VALUE_NUMBER_INT;
        String text = isInteger ? input.text() : "";
        if (isInteger) {
          input.expectEnd();
        }
        boolean isPositive = text.length() <= MAX_DIGITS && text.matches("[1-9][0-9]*");
        if (!isPositive) {
          throw LectusException.badRequest("`purged_infos_limit` must be positive integer");
        }
        return Long.parseLong(text);
      }
    }
  }

  /** {@code /{db}/_revs_limit}: the number of ancestors that an edit branch keeps. */
  private record RevsLimitResource(Catalogue catalogue) implements Resource {
    @Override
    public void serve(Exchange exchange) {
      DatabaseName database = exchange.databaseName();
      switch (exchange.method()) {
        case GET, HEAD ->
            exchange.answer(
                () ->
                    Reply.json(
                        200,
                        Integer.toString(catalogue.open(database).configuration().revsLimit())));
        case PUT -> exchange.answerBodyByChange(body -> put(database, limit(body)));
        default -> throw Requests.notAllowed("PUT,GET");
      }
    }

    private Reply put(DatabaseName database, int limit) {
      catalogue.configure(database, before -> before.withRevsLimit(limit));
      return Reply.ok(200);
    }

    private static int limit(byte[] body) {
      try (JsonInput input = JsonInput.of(body)) {
        JsonToken token = input.next();
        String text = token == JsonToken.VALUE_NUMBER_INT ? input.text() : "";
        if (!text.isEmpty()) {
          input.expectEnd();
        }
        return inRange(text);
      }
    }

    private static int inRange(String text) {
      boolean maybeLegal = !text.isEmpty() && text.length() < 10;
      int limit = maybeLegal ? Integer.parseInt(text) : 0;
      if (limit < 1 || limit > DatabaseConfiguration.MAX_REVS_LIMIT) {
        throw LectusException.badRequest(
            "_revs_limit must be a whole number from 1 to "
                + DatabaseConfiguration.MAX_REVS_LIMIT
                + ".");
      }
      return limit;
    }
  }

  /** {@code /{db}/_feeds} and {@code /{db}/_feeds/{name}}: stored feeds. */
  private record FeedsResource(FeedCatalogue feeds, DatabaseNotifications events)
      implements Resource {
    @Override
    public void serve(Exchange exchange) {
      DatabaseRequest database = exchange.database();
      List<String> path = exchange.segments();
      if (path.size() == 2) {
        if (exchange.method() != Method.GET && exchange.method() != Method.HEAD) {
          throw Requests.notAllowed("GET,HEAD");
        }
        exchange.answer(() -> Reply.json(200, feeds.list(database)));
      } else if (path.size() == 3) {
        serve(exchange, database, path.get(2));
      } else {
        throw LectusException.notFound("missing");
      }
    }

    private void serve(Exchange exchange, DatabaseRequest database, String name) {
      switch (exchange.method()) {
        case GET, HEAD -> exchange.answer(() -> Reply.json(200, feeds.one(database, name)));
        case PUT -> exchange.answerBodyByChange(body -> put(database, name, body));
        case DELETE ->
            exchange.answerChange(
                () -> {
                  tell(feeds.delete(database.name(), name));
                  return Reply.ok(200);
                });
        default -> throw Requests.notAllowed("DELETE,GET,HEAD,PUT");
      }
    }

    /** Wakes the feed's readers, so that they end. */
    private void tell(CommitResult<DatabaseHandle> deleted) {
      DatabaseHandle db = deleted.value();
      Sequence sequence = Sequence.of(db.incarnation(), deleted.versionstamp(), 0);
      events.publishUpdated(db.instance(), db.name(), sequence, TouchedShards.ANY);
    }

    private Reply put(DatabaseRequest database, String name, byte[] body) {
      FeedDefinition definition = FeedDefinition.parse(name, RequestJson.object(body));
      return Reply.ok(feeds.put(database.name(), definition) ? 201 : 200);
    }
  }

  /**
   * A name that neither a database nor a document or attachment can have, because it is not UTF-8,
   * or begins with an underscore and is not known. Reads find nothing, writes are refused; CouchDB
   * looks for a document that is to be deleted, and refuses an attachment.
   */
  private record UnusableNameResource(Catalogue catalogue) implements Resource {
    /** What documents' ids begin with that take two names of a path. */
    private static final Set<String> LONG_IDS = Set.of("_design", "_local");

    @Override
    public void serve(Exchange exchange) {
      List<String> path = exchange.segments();
      if (path.size() == 1 && exchange.method() == Method.PUT) {
        DatabaseName.of(path.get(0));
      }
      DatabaseName database = exchange.databaseName();
      LectusException answer =
          switch (exchange.method()) {
            case GET, HEAD -> LectusException.notFound("missing");
            case DELETE ->
                isUtf8Attachment(exchange)
                    ? LectusException.notFound("missing")
                    : refusal(exchange, path.get(1));
            case PUT -> refusal(exchange, path.get(1));
            default -> Requests.notAllowed("DELETE,GET,HEAD,PUT");
          };
      exchange.answer(
          () -> {
            catalogue.open(database);
            throw answer;
          });
    }

    /** Whether an attachment's name, if the path has one, is UTF-8. */
    private static boolean isUtf8Attachment(Exchange exchange) {
      return exchange.isUtf8From(LONG_IDS.contains(exchange.segment(1)) ? 3 : 2);
    }

    private static LectusException refusal(Exchange exchange, String name) {
      boolean isUtf8Attachment = isUtf8Attachment(exchange);
      if (DocumentId.isLocal(name) || (name.equals("_local") && !isUtf8Attachment)) {
        return LectusException.badRequest("_local documents do not accept attachments.");
      }
      if (!isUtf8Attachment) {
        return LectusException.badRequest("Attachment name is not UTF-8 encoded");
      }
      if (!exchange.isUtf8From(0)) {
        return LectusException.badRequest("illegal_docid", "Document id must be valid UTF-8");
      }
      return LectusException.badRequest(
          "illegal_docid", "Only reserved document ids may start with underscore.");
    }
  }

  /** {@code /{db}/_security}: who may use the database. */
  private record SecurityResource(
      Catalogue catalogue, DatabaseGuard guard, DatabaseNotifications events, Accounts accounts)
      implements Resource {
    private static final byte[] EVERYBODYS = "{}".getBytes(StandardCharsets.UTF_8);

    @Override
    public void serve(Exchange exchange) {
      DatabaseName database = exchange.databaseName();
      switch (exchange.method()) {
        case GET, HEAD ->
            exchange.answer(() -> Reply.json(200, new JsonBuffer(256).raw(get(database))));
        case PUT -> exchange.answerBodyByChange(body -> put(database, body));
        default -> throw Requests.notAllowed("PUT,GET");
      }
    }

    private byte[] get(DatabaseName database) {
      boolean isUnset = catalogue.open(database).security().isEmpty();
      return isUnset && guard.leavesUnsetToEverybody()
          ? EVERYBODYS.clone()
          : catalogue.security(database);
    }

    private Reply put(DatabaseName database, byte[] body) {
      if (body.length > Catalogue.MAX_SECURITY_BYTES) {
        throw new LectusException(
            new LectusError.TooLarge(
                "too_large",
                "The security object takes "
                    + body.length
                    + " bytes, the limit is "
                    + Catalogue.MAX_SECURITY_BYTES
                    + "."));
      }
      accounts.userEdits().checkSecurityMayChange(database);
      CommitResult<DatabaseHandle> secured = catalogue.secure(database, body);
      tell(secured.value(), secured);
      return Reply.ok(200);
    }

    /** Wakes feeds, so that one that may no longer read ends. */
    private void tell(DatabaseHandle db, CommitResult<?> secured) {
      Sequence sequence = Sequence.of(db.incarnation(), secured.versionstamp(), 0);
      events.publishUpdated(db.instance(), db.name(), sequence, TouchedShards.ANY);
    }
  }
}
