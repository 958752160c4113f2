package lectus.http.api;

import io.vertx.core.Future;
import java.util.Optional;
import java.util.function.Supplier;
import lectus.changes.page.DatabaseNotifications;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.Sequence;
import lectus.document.PagedBody;
import lectus.error.LectusException;
import lectus.http.Headers;
import lectus.http.Reply;
import lectus.http.exchange.BodySink;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.FlowingBody;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Services;
import lectus.http.exchange.StreamedBody;
import lectus.http.limits.BodyMemory;
import lectus.image.HeldContents;
import lectus.image.ImageReading.Asked;
import lectus.image.ImageStoring;
import lectus.image.ImageStoring.Restored;
import lectus.json.JsonBuffer;

/** {@code /{db}/_image}: the image of a database, streamed out, and stored as a new database. */
record ImageResource(Services.Databases databases) {
  private static final String TYPE = "application/octet-stream";
  private static final int CREATED = 201;

  /** Memory with which a restore goes on: a batch that is stored, and the next one. */
  private static final long LEAST_BYTES = 4L << 20;

  void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET -> {
        Asked what = new Asked(since(exchange), follower(exchange));
        read(exchange, exchange.database(), () -> what);
      }
      case POST -> {
        if (since(exchange).isPresent()) {
          readOn(exchange, exchange.database());
        } else {
          store(exchange, exchange.databaseName());
        }
      }
      case DELETE -> {
        DatabaseRequest asked = exchange.database();
        String follower =
            follower(exchange)
                .orElseThrow(() -> LectusException.badRequest("`follower` is missing."));
        exchange.answerChange(
            () -> {
              if (!databases.images().drop(asked, follower)) {
                throw LectusException.notFound("missing");
              }
              return Reply.ok(200);
            });
      }
      default -> throw Requests.notAllowed("DELETE,GET,POST");
    }
  }

  private static Optional<Sequence> since(Exchange exchange) {
    return exchange
        .query()
        .text("since")
        .map(
            text ->
                Sequence.parse(text)
                    .orElseThrow(
                        () -> LectusException.badRequest("`since` is no sequence of a database.")));
  }

  private static Optional<String> follower(Exchange exchange) {
    Optional<String> name = exchange.query().text("follower");
    if (name.filter(it -> !it.matches("[a-z0-9_-]{1,64}")).isPresent()) {
      throw LectusException.badRequest(
          "`follower` has 1 to 64 lower-case letters, digits, _ and -.");
    }
    return name;
  }

  private void read(Exchange exchange, DatabaseRequest database, Supplier<Asked> what) {
    exchange.streamTagged(
        () -> StreamedBody.of(TYPE, databases.images().read(database, what.get())));
  }

  /** An increment without the contents that the body names. */
  private void readOn(Exchange exchange, DatabaseRequest database) {
    Optional<Sequence> since = since(exchange);
    Optional<String> follower = follower(exchange);
    exchange
        .body(HeldContents.MOST_NAMED_BYTES)
        .onComplete(
            body ->
                read(
                    exchange,
                    database,
                    () -> new Asked(since, follower, HeldContents.of(body), Optional.empty())),
            exchange::fail);
  }

  private void store(Exchange exchange, DatabaseName name) {
    receive(exchange, databases.images().store(name))
        .onComplete(
            image -> {
              // Line feeds that wait to be compressed keep no connection.
              exchange.encoding().leavePlain();
              exchange.streamMade(
                  StreamedBody.of(Headers.JSON, new Appearing(image, databases.events(), name))
                      .withStatus(CREATED));
            },
            exchange::fail);
  }

  static Future<ImageStoring> receive(Exchange exchange, ImageStoring image) {
    exchange.keepUnread();
    // The database is not there, whatever is wrong with the image.
    exchange.failAtOnce();
    return FlowingBody.read(exchange, LEAST_BYTES, new Restoring(image));
  }

  /**
   * The answer. What was defined later than the documents may take long to fill in, so a line feed
   * keeps the connection with each part of it: JSON may begin with any number of them.
   */
  private record Appearing(ImageStoring image, DatabaseNotifications events, DatabaseName name)
      implements PagedBody {
    @Override
    public boolean appendNext(JsonBuffer out) {
      if (image.fillNext()) {
        out.octet('\n');
        return true;
      }
      Restored done = image.appear();
      events.publishCreated(done.db().instance(), name);
      out.ascii("{\"ok\":true,\"update_seq\":").string(done.last().toString()).ascii("}\n");
      return false;
    }

    @Override
    public void abandon() {
      image.abandon();
    }
  }

  private record Restoring(ImageStoring image) implements BodySink<ImageStoring> {
    @Override
    public void take(byte[] bytes) {
      image.take(bytes);
    }

    @Override
    public Held held() {
      return new Held(0, BodyMemory.UNKNOWN, image.heldBytes());
    }

    @Override
    public void relieve() {
      image.relieve();
    }

    @Override
    public ImageStoring end() {
      image.end();
      return image;
    }

    @Override
    public void abandon() {
      image.abandon();
    }
  }
}
