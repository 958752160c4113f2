package lectus.http.admin;

import java.util.Arrays;
import java.util.Optional;
import lectus.changes.page.DatabaseInfo;
import lectus.changes.page.DatabaseNotifications;
import lectus.database.Catalogue;
import lectus.database.CreationOptions;
import lectus.database.DatabaseConfiguration.BodyLayout;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.error.LectusException;
import lectus.http.Headers;
import lectus.http.QueryParameters;
import lectus.http.Reply;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.PublicUrl;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.json.JsonBuffer;

/** {@code /{db}}. */
final class DatabaseResource implements Resource {
  private final Catalogue catalogue;
  private final DatabaseInfo info;
  private final DatabaseNotifications events;
  private final Resource creation;

  /**
   * @param creation answers a {@code POST}, which creates a document
   */
  DatabaseResource(
      Catalogue catalogue, DatabaseInfo info, DatabaseNotifications events, Resource creation) {
    this.catalogue = catalogue;
    this.info = info;
    this.events = events;
    this.creation = creation;
  }

  @Override
  public void serve(Exchange exchange) {
    switch (exchange.method()) {
      case GET, HEAD -> {
        DatabaseRequest asked = exchange.database();
        exchange.answer(() -> get(asked));
      }
      case PUT -> put(exchange, DatabaseName.of(exchange.segment(0)));
      case DELETE -> delete(exchange, exchange.databaseName());
      case POST -> creation.serve(exchange);
      default -> throw Requests.notAllowed("DELETE,GET,HEAD,POST");
    }
  }

  private Reply get(DatabaseRequest asked) {
    JsonBuffer out = new JsonBuffer(512);
    info.append(asked, out);
    return Reply.json(200, out);
  }

  private void put(Exchange exchange, DatabaseName name) {
    CreationOptions options = options(name, exchange.query());
    String location = PublicUrl.location(exchange, name.text());
    exchange.answerChange(
        () -> {
          events.publishCreated(catalogue.create(name, options).instance(), name);
          return Reply.ok(201).with(Headers.LOCATION, location);
        });
  }

  private static CreationOptions options(DatabaseName name, QueryParameters query) {
    checkCluster(query);
    boolean partitioned = isPartitioned(query);
    if (partitioned && name.isSystem()) {
      throw LectusException.badRequest("Cannot partition a system database");
    }
    return new CreationOptions(partitioned, changesShards(query), layout(query));
  }

  /**
   * Checks CouchDB's parameters for spreading a database over its cluster; they have no effect
   * here.
   */
  private static void checkCluster(QueryParameters query) {
    for (String name : new String[] {"n", "q"}) {
      if (!isPositive(query.text(name).orElse("1"))) {
        throw LectusException.badRequest("The `" + name + "` value should be a positive integer.");
      }
    }
    boolean isPlacement =
        Arrays.stream(query.text("placement").orElse("zone:1").split(","))
            .allMatch(rule -> rule.matches("[^:]+:[^:]+") && isPositive(rule.split(":")[1]));
    if (!isPlacement) {
      throw LectusException.badRequest("The `placement` value should be in a format `zone:n`.");
    }
  }

  private static boolean isPositive(String number) {
    return number.matches("[+]?0*[1-9][0-9]*");
  }

  private static int changesShards(QueryParameters query) {
    String shards = query.get("changes_shards");
    try {
      return shards == null ? CreationOptions.DEFAULT.changesShards() : Integer.parseInt(shards);
    } catch (NumberFormatException e) {
      throw CreationOptions.badChangesShards();
    }
  }

  private static Optional<BodyLayout> layout(QueryParameters query) {
    Optional<BodyLayout> layout = query.text("layout").flatMap(BodyLayout::named);
    if (query.text("layout").isPresent() && layout.isEmpty()) {
      throw LectusException.badRequest("The `layout` value should be inline or rfc004.");
    }
    return layout;
  }

  private static boolean isPartitioned(QueryParameters query) {
    String partitioned = query.text("partitioned").orElse("false");
    return switch (partitioned) {
      case "true" -> true;
      case "false" -> false;
      default -> throw LectusException.badRequest("Invalid `partitioned` parameter");
    };
  }

  /** With {@code rev} the client meant a document, whose id was empty by mistake. */
  private void delete(Exchange exchange, DatabaseName name) {
    if (exchange.query().get("rev") != null) {
      throw LectusException.badRequest(
          "You tried to DELETE a database with a ?=rev parameter. Did you mean to DELETE a document"
              + " instead?");
    }
    exchange.answerChange(
        () -> {
          events.publishDeleted(catalogue.delete(name).value(), name);
          return Reply.ok(200);
        });
  }
}
