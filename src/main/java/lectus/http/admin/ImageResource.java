package lectus.http.admin;

import io.vertx.core.Future;
import java.util.Optional;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.Sequence;
import lectus.error.LectusException;
import lectus.http.Reply;
import lectus.http.exchange.BodySink;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.FlowingBody;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Services;
import lectus.http.exchange.StreamedBody;
import lectus.http.limits.BodyMemory;
import lectus.image.ImageReading.Asked;
import lectus.image.ImageStoring;
import lectus.image.ImageStoring.Restored;
import lectus.json.JsonBuffer;

/** {@code /{db}/_image}: the image of a database, streamed out, and stored as a new database. */
final class ImageResource {
  private static final String TYPE = "application/octet-stream";

  /** Memory with which a restore goes on: a batch that is stored, and the next one. */
  private static final long LEAST_BYTES = 4L << 20;

  private final Services.Databases databases;

  ImageResource(Services.Databases databases) {
    this.databases = databases;
  }

  void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET -> {
        DatabaseRequest asked = exchange.database();
        Asked what = new Asked(since(exchange), follower(exchange));
        exchange.streamTagged(() -> StreamedBody.of(TYPE, databases.images().read(asked, what)));
      }
      case POST -> store(exchange, exchange.databaseName());
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

  private void store(Exchange exchange, DatabaseName name) {
    exchange.keepUnread();
    // The database is not there, whatever is wrong with the image.
    exchange.failAtOnce();
    Future<Restored> restored =
        FlowingBody.read(exchange, LEAST_BYTES, new Restoring(databases.images().store(name)));
    restored.onComplete(
        done -> {
          databases.events().publishCreated(done.db().instance(), name);
          exchange.reply(
              Reply.json(
                  201,
                  new JsonBuffer(256)
                      .ascii("{\"ok\":true,\"update_seq\":")
                      .string(done.last().toString())
                      .ascii("}")));
        },
        exchange::fail);
  }

  private record Restoring(ImageStoring image) implements BodySink<Restored> {
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
    public Restored end() {
      return image.finish();
    }

    @Override
    public void abandon() {
      image.abandon();
    }
  }
}
