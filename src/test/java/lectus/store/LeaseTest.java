package lectus.store;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A lease's age is measured in versions. */
final class LeaseTest {
  private static final LeaseSubspace.Claim CLAIM = new LeaseSubspace.Claim(new byte[16], 1_000);

  @Test
  void a_lease_lasts_as_many_versions_as_it_lives() {
    assertThat(CLAIM.isYoungerThan(500, 1_000)).isTrue();
    assertThat(CLAIM.isYoungerThan(500, 1_500)).isTrue();
    assertThat(CLAIM.isYoungerThan(500, 1_501)).isFalse();
  }

  @Test
  void a_lease_of_another_store_s_future_is_nobody_s() {
    assertThat(CLAIM.isYoungerThan(500, 999)).isFalse();
  }

  @Test
  void what_was_written_is_read() {
    LeaseSubspace.Claim read = LeaseSubspace.claim(LeaseSubspace.value(CLAIM));
    assertThat(read.isOf(new byte[16])).isTrue();
    assertThat(read.isOf(new byte[] {1})).isFalse();
    assertThat(read.version()).isEqualTo(1_000);
  }
}
