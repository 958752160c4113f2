package lectus.frozen;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;

/**
 * Everything that clients see of a store, one line each: what a later version must still show. It
 * leaves out members that a later version may add to a database's figures.
 */
final class StoreListing {
  private static final Pattern ID = Pattern.compile("\"id\":\"([^\"]*)\"");
  private static final Pattern NAME = Pattern.compile("\"([^\"]+)\"");
  private static final Pattern FIGURES =
      Pattern.compile(
          "\"(?:doc_count|doc_del_count|instance_start_time|update_seq|sizes)\":"
              + "(?:\\{[^}]*}|\"[^\"]*\"|\\d+)");

  /** Longer lines are replaced by their length and digest. */
  private static final int LONGEST = 600;

  private final LectusServer server;
  private final List<String> lines = new ArrayList<>();

  private StoreListing(LectusServer server) {
    this.server = server;
  }

  static List<String> of(LectusServer server) {
    StoreListing listing = new StoreListing(server);
    for (String database : found(NAME, server.get("/_all_dbs").body())) {
      listing.database('/' + database.replace("/", "%2F"));
    }
    return listing.lines;
  }

  private void database(String path) {
    String figures =
        String.join(
            ",",
            FIGURES.matcher(server.get(path).body()).results().map(MatchResult::group).toList());
    lines.add(path + ": " + figures);
    show(path + "/_security");
    show(path + "/_revs_limit");
    show(path + "/_changes/_meta");
    show(path + "/_all_docs");
    show(path + "/_local_docs?include_docs=true");
    String changes = show(path + "/_changes?style=all_docs");
    for (String id : found(ID, changes)) {
      show(path + '/' + encoded(id) + "?open_revs=all&revs=true");
    }
  }

  private static List<String> found(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(it -> it.group(1)).toList();
  }

  private static String encoded(String id) {
    return URLEncoder.encode(id, StandardCharsets.UTF_8).replace("+", "%20").replace("%2F", "/");
  }

  private String show(String target) {
    Answer answer = server.request("GET", target).header("Accept", "application/json").send();
    lines.add(target + ": " + answer.status());
    answer.body().lines().map(StoreListing::shown).forEach(lines::add);
    return answer.body();
  }

  private static String shown(String line) {
    return "  "
        + (line.length() <= LONGEST ? line : line.length() + " characters, " + digest(line));
  }

  private static String digest(String line) {
    try {
      byte[] utf8 = line.getBytes(StandardCharsets.UTF_8);
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(utf8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
