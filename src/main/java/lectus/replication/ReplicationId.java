package lectus.replication;

import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import lectus.attachment.Digests;
import lectus.derived.NormalSelector;
import lectus.http.client.RemoteAddress;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonNull;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.replication.ReplicationRequest.Choice;
import lectus.replication.ReplicationRequest.End;

/**
 * The name of a replication, under which both ends keep its checkpoints. It is CouchDB's: the MD5
 * of what both ends and the choice of documents are as an Erlang term, so that a server goes on
 * where another one stopped.
 *
 * @param base 32 hex digits
 * @param extension what of the options does not concern the checkpoints
 */
public record ReplicationId(String base, String extension) {
  /** CouchDB's version of ids, the present one. */
  public static final int VERSION = 4;

  /** The version before, which had the whole URL. */
  static final int FORMER_VERSION = 3;

  private static final int COUCHDB_PORT = 5_984;

  /** Of CouchDB, which drops these headers from the id. */
  private static final String ACCEPT = "application/json";

  /**
   * Returns the id of a replication.
   *
   * @param uuid the server's
   * @param filter the source of the function that filters, if one does
   */
  public static ReplicationId of(ReplicationRequest request, String uuid, Optional<String> filter) {
    String extension =
        (request.options().continuous() ? "+continuous" : "")
            + (request.options().creation().isPresent() ? "+create_target" : "");
    return new ReplicationId(base(request, uuid, filter, VERSION), extension);
  }

  /** Returns the base as an earlier version made it, where that is known. */
  static String base(
      ReplicationRequest request, String uuid, Optional<String> filter, int version) {
    List<Term> parts = new ArrayList<>();
    parts.add(out -> out.binary(uuid));
    parts.add(end(request.source(), version));
    parts.add(end(request.target(), version));
    addChoice(request.choice(), filter, parts);
    if (request.options().winnersOnly()) {
      parts.add(out -> out.binary("winning_revs_only"));
    }
    MessageDigest md5 = Digests.md5();
    return HexFormat.of().formatHex(md5.digest(new ExternalTerm().begin().list(parts).bytes()));
  }

  @Override
  public String toString() {
    return base + extension;
  }

  private static Term end(End end, int version) {
    if (end instanceof End.Local local) {
      return out -> out.tuple(List.of(it -> it.atom("local"), it -> it.binary(local.shown())));
    }
    RemoteAddress address = ((End.Remote) end).address();
    List<Term> headers = new ArrayList<>();
    new TreeMap<>(address.headers())
        .forEach(
            (name, value) -> {
              if (!(name.equals("Accept") && value.equals(ACCEPT))) {
                headers.add(out -> out.tuple(List.of(it -> it.text(name), it -> it.text(value))));
              }
            });
    Term remote = out -> out.atom("remote");
    Term others = out -> out.list(headers);
    if (version == FORMER_VERSION) {
      return out -> out.tuple(List.of(remote, it -> it.text(address.url().toString()), others));
    }
    Optional<String> user = address.login().map(RemoteAddress.Login::name);
    return out ->
        out.tuple(
            List.of(
                remote,
                it -> user.ifPresentOrElse(it::text, () -> it.atom("undefined")),
                it -> it.text(host(address.url())),
                it -> port(address.url(), it),
                it -> it.text(path(address.url())),
                others,
                it -> it.atom("undefined")));
  }

  private static String host(URI url) {
    String host = url.getHost();
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }

  private static String path(URI url) {
    return url.getRawPath() + (url.getRawQuery() == null ? "" : '?' + url.getRawQuery());
  }

  /** The usual ports of either scheme count as one. */
  private static void port(URI url, ExternalTerm out) {
    int port = RemoteAddress.port(url);
    boolean isUsual =
        url.getScheme().toLowerCase(Locale.ROOT).equals("https")
            ? port == RemoteAddress.HTTPS_PORT
            : port == RemoteAddress.HTTP_PORT || port == COUCHDB_PORT;
    if (isUsual) {
      out.atom("default");
    } else {
      out.integer(BigInteger.valueOf(port));
    }
  }

  private static void addChoice(Choice choice, Optional<String> filter, List<Term> parts) {
    if (choice instanceof Choice.Ids some) {
      List<Term> ids = some.ids().stream().<Term>map(id -> out -> out.binary(id)).toList();
      parts.add(out -> out.list(ids));
    } else if (choice instanceof Choice.OfSelector some) {
      JsonObject normal = NormalSelector.of(some.selector()).json();
      parts.add(out -> out.json(sorted(normal)));
    } else if (choice instanceof Choice.OfFilter some) {
      String code = filter.orElse(some.name());
      parts.add(out -> out.binary(code.strip()));
      parts.add(out -> out.json(some.parameters()));
    }
  }

  private static JsonValue sorted(JsonValue value) {
    if (value instanceof JsonObject object) {
      Map<String, JsonValue> members = new TreeMap<>();
      object.members().forEach((name, member) -> members.put(name, sorted(member)));
      return new JsonObject(members);
    }
    return value instanceof JsonArray array
        ? new JsonArray(array.elements().stream().map(ReplicationId::sorted).toList())
        : value;
  }

  /** A part of a term. */
  private interface Term {
    void writeTo(ExternalTerm out);
  }

  /** Erlang's external term format, its first minor version. */
  private static final class ExternalTerm {
    private static final int VERSION_OF_FORMAT = 131;
    private static final int NEW_FLOAT = 70;
    private static final int SMALL_INTEGER = 97;
    private static final int INTEGER = 98;
    private static final int ATOM = 100;
    private static final int SMALL_TUPLE = 104;
    private static final int NIL = 106;
    private static final int STRING = 107;
    private static final int LIST = 108;
    private static final int BINARY = 109;
    private static final int SMALL_BIG = 110;
    private static final int LONGEST_STRING = 65_535;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    byte[] bytes() {
      return bytes.toByteArray();
    }

    ExternalTerm begin() {
      bytes.write(VERSION_OF_FORMAT);
      return this;
    }

    private void number(int octets, long value) {
      for (int shift = (octets - 1) * Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
        bytes.write((int) (value >> shift));
      }
    }

    void atom(String name) {
      bytes.write(ATOM);
      number(2, name.length());
      bytes.writeBytes(name.getBytes(StandardCharsets.ISO_8859_1));
    }

    void binary(String text) {
      byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
      bytes.write(BINARY);
      number(4, utf8.length);
      bytes.writeBytes(utf8);
    }

    /** A list of octets. */
    void text(String text) {
      byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
      if (utf8.length == 0) {
        bytes.write(NIL);
      } else if (utf8.length <= LONGEST_STRING) {
        bytes.write(STRING);
        number(2, utf8.length);
        bytes.writeBytes(utf8);
      } else {
        bytes.write(LIST);
        number(4, utf8.length);
        for (byte octet : utf8) {
          bytes.write(SMALL_INTEGER);
          bytes.write(octet);
        }
        bytes.write(NIL);
      }
    }

    ExternalTerm list(List<Term> elements) {
      if (!elements.isEmpty()) {
        bytes.write(LIST);
        number(4, elements.size());
        elements.forEach(element -> element.writeTo(this));
      }
      bytes.write(NIL);
      return this;
    }

    void tuple(List<Term> elements) {
      bytes.write(SMALL_TUPLE);
      bytes.write(elements.size());
      elements.forEach(element -> element.writeTo(this));
    }

    void integer(BigInteger value) {
      if (value.signum() >= 0 && value.bitLength() <= Byte.SIZE) {
        bytes.write(SMALL_INTEGER);
        bytes.write(value.intValue());
      } else if (value.bitLength() < Integer.SIZE) {
        bytes.write(INTEGER);
        number(4, value.intValue());
      } else {
        byte[] magnitude = value.abs().toByteArray();
        int first = magnitude[0] == 0 ? 1 : 0;
        bytes.write(SMALL_BIG);
        bytes.write(magnitude.length - first);
        bytes.write(value.signum() < 0 ? 1 : 0);
        for (int i = magnitude.length - 1; i >= first; i--) {
          bytes.write(magnitude[i]);
        }
      }
    }

    void json(JsonValue value) {
      if (value instanceof JsonString text) {
        binary(text.value());
      } else if (value instanceof JsonBool flag) {
        atom(Boolean.toString(flag.value()));
      } else if (value instanceof JsonNull) {
        atom("null");
      } else if (value instanceof JsonArray array) {
        list(array.elements().stream().<Term>map(it -> out -> out.json(it)).toList());
      } else if (value instanceof JsonNumber number) {
        number(number.text());
      } else {
        List<Term> members = new ArrayList<>();
        ((JsonObject) value)
            .members()
            .forEach(
                (name, member) ->
                    members.add(
                        out -> out.tuple(List.of(it -> it.binary(name), it -> it.json(member)))));
        tuple(List.of(out -> out.list(members)));
      }
    }

    private void number(String text) {
      if (text.chars().allMatch(c -> c == '-' || (c >= '0' && c <= '9'))) {
        integer(new BigInteger(text));
      } else {
        bytes.write(NEW_FLOAT);
        number(8, Double.doubleToLongBits(new BigDecimal(text).doubleValue()));
      }
    }
  }
}
