package lectus.http.api;

import java.util.Base64;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import lectus.changes.page.DatabaseNotifications;
import lectus.database.Catalogue.DatabaseInstance;
import lectus.database.DatabaseName;
import lectus.database.RelocationsSubspace.Arrival;
import lectus.database.RelocationsSubspace.Attempt;
import lectus.database.RelocationsSubspace.Departure;
import lectus.database.RelocationsSubspace.Standing;
import lectus.database.Whereabouts.Secret;
import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.http.Reply;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Services;
import lectus.image.ImageStoring.Former;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.relocation.Arrivals;
import lectus.relocation.Relocations;

/**
 * {@code /_relocations}: databases that leave for other places. Below the id of one, {@code
 * /arrivals/ATTEMPT} is for the place that it comes to.
 */
final class RelocationResource {
  private static final int DEPTH_OF_ARRIVALS = 4;
  private static final int MAX_SECRET_LENGTH = 1_000;
  private static final String NUMBER = "[0-9]{1,9}";

  private final Relocations departures;
  private final Arrivals arrivals;
  private final DatabaseNotifications events;

  RelocationResource(Services.Databases databases) {
    this.departures = databases.relocations();
    this.arrivals = databases.arrivals();
    this.events = databases.events();
  }

  void serve(Exchange exchange) {
    int depth = exchange.target().segments().size();
    if (depth == 1) {
      all(exchange);
    } else if (depth == 2) {
      one(exchange, exchange.segment(1));
    } else if (depth == DEPTH_OF_ARRIVALS && exchange.segment(2).equals("arrivals")) {
      arrival(exchange, attempt(exchange));
    } else {
      throw LectusException.notFound("missing");
    }
  }

  private void all(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD ->
          exchange.answerJson(
              out ->
                  out.ascii("{\"relocations\":[")
                      .each(departures.all(), it -> append(it, out))
                      .ascii("]}"));
      case POST -> {
        Requests.wantJson(exchange);
        exchange.answerBodyByChange(body -> begin(RequestJson.object(body)));
      }
      default -> throw Requests.notAllowed("GET,HEAD,POST");
    }
  }

  private Reply begin(JsonObject asked) {
    OptionalLong forward = OptionalLong.empty();
    if (asked.get("forward").isPresent()) {
      forward = OptionalLong.of(seconds(asked.get("forward").get()));
    }
    Departure begun =
        departures.begin(DatabaseName.of(text(asked, "source")), text(asked, "target"), forward);
    return Reply.json(
        202, new JsonBuffer(80).ascii("{\"ok\":true,\"id\":").string(begun.id()).octet('}'));
  }

  private static long seconds(JsonValue value) {
    if (value instanceof JsonValue.JsonNumber number && number.text().matches("[0-9]{1,10}")) {
      return Long.parseLong(number.text());
    }
    throw LectusException.badRequest("`forward` is a number of seconds.");
  }

  private static String text(JsonObject asked, String member) {
    return asked
        .textOf(member)
        .orElseThrow(() -> LectusException.badRequest("`" + member + "` must be a string."));
  }

  private static void append(Departure it, JsonBuffer out) {
    out.ascii("{\"id\":").string(it.id());
    out.ascii(",\"source\":").string(it.database().text());
    out.ascii(",\"target\":").string(it.other().url());
    out.ascii(",\"state\":").string(it.phase().name().toLowerCase(Locale.ROOT));
    out.ascii(",\"attempt\":").number(it.attempt());
    out.ascii(",\"started_on\":").number(it.begunSeconds());
    out.ascii(",\"given_up\":").bool(it.givenUp());
    out.ascii(",\"reason\":").string(it.reason()).octet('}');
  }

  private void one(Exchange exchange, String id) {
    switch (exchange.method()) {
      case GET, HEAD -> exchange.answerJson(out -> append(departures.get(id), out));
      case DELETE -> {
        boolean isForced = exchange.query().text("force").filter("true"::equals).isPresent();
        exchange.answerChange(
            () -> {
              departures.giveUp(id, isForced);
              return Reply.ok(202);
            });
      }
      default -> throw Requests.notAllowed("DELETE,GET,HEAD");
    }
  }

  private static Attempt attempt(Exchange exchange) {
    String id = exchange.segment(1);
    String number = exchange.segment(3);
    if (!id.matches("[0-9a-f]{32}") || !number.matches(NUMBER)) {
      throw LectusException.notFound("missing");
    }
    return new Attempt(id, Long.parseLong(number));
  }

  private void arrival(Exchange exchange, Attempt attempt) {
    switch (exchange.method()) {
      case GET, HEAD -> exchange.answer(() -> told(arrivals.outcome(attempt)));
      case POST -> receive(exchange, attempt);
      case PUT -> {
        Requests.wantJson(exchange);
        exchange.answerBodyByChange(
            body -> {
              Arrival decided = arrivals.open(attempt, secret(RequestJson.object(body)));
              if (decided.standing() == Standing.OPEN) {
                DatabaseInstance life = decided.life().orElseThrow();
                events.publishCreated(life.instance(), life.name());
              }
              return told(decided);
            });
      }
      case DELETE -> {
        boolean isKnown = exchange.query().text("known").filter("true"::equals).isPresent();
        exchange.answerChange(
            () -> told(isKnown ? arrivals.forget(attempt) : arrivals.abort(attempt)));
      }
      default -> throw Requests.notAllowed("DELETE,GET,HEAD,POST,PUT");
    }
  }

  private static Secret secret(JsonObject asked) {
    String text = text(asked, "secret");
    if (text.isEmpty() || text.length() > MAX_SECRET_LENGTH) {
      throw LectusException.badRequest("`secret` has 1 to " + MAX_SECRET_LENGTH + " characters.");
    }
    return new Secret(text);
  }

  private static Reply told(Arrival arrival) {
    JsonBuffer out = new JsonBuffer(80).ascii("{\"ok\":true,\"state\":");
    out.string(arrival.standing().name().toLowerCase(Locale.ROOT));
    out.ascii(",\"images\":").number(arrival.images());
    arrival.last().ifPresent(it -> out.ascii(",\"update_seq\":").string(it.toString()));
    arrival
        .reached()
        .ifPresent(
            it ->
                out.ascii(",\"reached\":").string(Base64.getEncoder().encodeToString(it.place())));
    return Reply.json(200, out.octet('}'));
  }

  private static Optional<Long> number(Exchange exchange, String parameter) {
    return exchange.query().text(parameter).filter(it -> it.matches(NUMBER)).map(Long::valueOf);
  }

  private void receive(Exchange exchange, Attempt attempt) {
    DatabaseName name =
        DatabaseName.of(
            exchange
                .query()
                .text("database")
                .orElseThrow(() -> LectusException.badRequest("`database` is missing.")));
    OptionalLong images =
        number(exchange, "images").map(OptionalLong::of).orElseGet(OptionalLong::empty);
    Optional<Former> former =
        number(exchange, "after").map(it -> new Former(new Attempt(attempt.id(), it), images));
    ImageResource.receive(exchange, arrivals.receive(attempt, former, name))
        .onComplete(whole -> exchange.reply(Reply.ok(201)), exchange::fail);
  }
}
