package lectus.http.database;

import lectus.database.Catalogue;
import lectus.database.DatabaseName;
import lectus.database.NameRange;
import lectus.document.PagedBody;
import lectus.http.access.DatabaseGuard;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.StreamedBody;
import lectus.json.JsonBuffer;

/** {@code /_all_dbs}: the names of all databases that the user may read, page by page. */
final class AllDbsResource implements Resource {
  private final Catalogue catalogue;
  private final DatabaseGuard guard;

  AllDbsResource(Catalogue catalogue, DatabaseGuard guard) {
    this.catalogue = catalogue;
    this.guard = guard;
  }

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
