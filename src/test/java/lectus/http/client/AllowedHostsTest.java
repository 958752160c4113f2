package lectus.http.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.CompletionException;
import lectus.error.LectusException;
import lectus.http.client.HttpCaller.LookUps;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class AllowedHostsTest {
  private static final AllowedHosts USUAL =
      AllowedHosts.of(List.of(), AllowedHosts.DENIED_BY_DEFAULT);

  private static List<InetAddress> addresses(AllowedHosts hosts, String host) throws Throwable {
    try (LookUps lookUps = new LookUps(hosts, LookUps::ofSystem, 1, 60_000)) {
      return lookUps.of(host).join();
    } catch (CompletionException failure) {
      throw failure.getCause();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "169.254.169.254",
        "[fe80::1]",
        "fd00:ec2::254",
        "100.100.100.200",
        "::ffff:169.254.169.254",
        "64:ff9b::a9fe:a9fe",
        "::169.254.169.254",
        "2002:a9fe:a9fe::1",
        "::ffff:0:a9fe:a9fe",
        "168.63.129.16",
        "::ffff:168.63.129.16",
        "64:ff9b::a83f:8110",
        "2002:a83f:8110::",
        "fd20:ce::254",
        "2001:0:a9fe:a9fe::",
        "2001:0:c000:201::5601:5601",
        "64:ff9b:1::",
        "64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
        "0.0.0.0",
        "0.255.255.255",
        "::ffff:0.0.0.1",
        "::"
      })
  void an_address_of_one_link_is_denied_however_it_is_written(String host) {
    assertThatThrownBy(() -> addresses(USUAL, host))
        .isInstanceOf(LectusException.class)
        .hasMessageContaining("may not send requests to");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "169.253.255.255",
        "169.255.0.0",
        "127.0.0.1",
        "::1",
        "fec0::1",
        "10.0.0.1",
        "168.63.129.15",
        "168.63.129.17",
        "1.0.0.0",
        "fd20:ce::253",
        "64:ff9b:2::a9fe:a9fe",
        "64:ff9b::a00:1",
        "2003:a9fe:a9fe::1",
        "2001:0:c000:201::f5ff:fffe",
        "2001:1:a9fe:a9fe::5601:5601"
      })
  void others_are_not(String host) throws Throwable {
    assertThat(addresses(USUAL, host)).hasSize(1);
  }

  /** RFC 6052, section 2.4, has these places, with 192.0.2.33. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "64:ff9b:1:c000:2:2100::",
        "64:ff9b:1:bc0:0:221::",
        "64:ff9b:1:abc:c0:2:2100::",
        "64:ff9b:1::192.0.2.33"
      })
  void a_translator_of_ones_own_is_looked_through(String host) throws Throwable {
    AllowedHosts hosts = AllowedHosts.of(List.of(), List.of("192.0.2.0/24"));

    assertThatThrownBy(() -> addresses(hosts, host)).isInstanceOf(LectusException.class);
    assertThat(addresses(hosts, "64:ff9b:1::192.0.3.33")).hasSize(1);
  }

  @Test
  void a_name_is_denied_if_one_of_its_addresses_is() {
    AllowedHosts hosts = AllowedHosts.of(List.of(), List.of("127.0.0.0/8", "::1"));

    assertThatThrownBy(() -> addresses(hosts, "localhost")).isInstanceOf(LectusException.class);
  }

  @Test
  void with_a_list_of_those_allowed_all_others_are_denied() throws Throwable {
    AllowedHosts hosts = AllowedHosts.of(List.of("local*", "10.0.0.0/8"), List.of("10.1.0.0/16"));

    assertThat(addresses(hosts, "LOCALHOST")).isNotEmpty();
    assertThat(addresses(hosts, "10.2.0.1")).hasSize(1);
    assertThatThrownBy(() -> addresses(hosts, "10.1.0.1")).isInstanceOf(LectusException.class);
    assertThatThrownBy(() -> addresses(hosts, "127.0.0.1")).isInstanceOf(LectusException.class);
  }
}
