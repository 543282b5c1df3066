// Line tables: every version, what linkers leave in them, and tables that make no sense.
#include "machine/line_table.h"

#include <cstdint>
#include <cstdlib>
#include <random>

#include "harness.h"
#include "line_tables.h"

using namespace line_tables;

// ---- Tables by hand ----

TEST(every_version_gives_the_same_lines) {
  Writer code;
  code.address(0x1000).line(9).row();                    // a.mlu:10 at 0x1000
  code.byte(static_cast<std::uint64_t>(special(4, 2)));  // :12 at 0x1004
  code.file(2).advance(8).line(-4).row();                // sub/b.mlu:8 at 0x100c
  code.byte(8).file(3).row();                            // const_add_pc: 22 on, /abs/c.mlu:8 at 0x1022
  code.byte(9).number(0x1e, 2).file(4).row();            // fixed_advance_pc: /whole/d.mlu:8 at 0x1040
  code.byte(5).byte(3).byte(6).byte(7).byte(10).byte(11).byte(12).byte(1);       // column, statement and so on
  code.byte(0).byte(2).byte(4).byte(1).byte(0).byte(4).byte(0x80).number(0, 3);  // discriminator, a vendor's
  code.advance(16).end();                                                        // to 0x1050
  for (int version = 2; version <= 5; ++version) {
    for (const bool wide : {false, true}) {
      const LineTable table = table_of(unit({version, wide, 1}, code));
      CHECK_EQ(line_at(table, 0xfff), "nothing");
      CHECK_EQ(line_at(table, 0x1000), "a.mlu:10");
      CHECK_EQ(line_at(table, 0x1003), "a.mlu:10");
      CHECK_EQ(line_at(table, 0x1004), "a.mlu:12");
      CHECK_EQ(line_at(table, 0x100c), "sub/b.mlu:8");
      CHECK_EQ(line_at(table, 0x1021), "sub/b.mlu:8");
      CHECK_EQ(line_at(table, 0x1022), "/abs/c.mlu:8");
      CHECK_EQ(line_at(table, 0x103f), "/abs/c.mlu:8");
      CHECK_EQ(line_at(table, 0x104f), "/whole/d.mlu:8");
      CHECK_EQ(line_at(table, 0x1050), "nothing");
    }
  }
}

TEST(instructions_of_four_bytes) {
  Writer code;
  code.address(0x1000).row().byte(static_cast<std::uint64_t>(special(2, 1))).advance(3).row();
  code.byte(9).number(4, 2).line(1).row().advance(1).end();  // fixed_advance_pc counts bytes
  const LineTable table = table_of(unit({4, false, 4}, code));
  CHECK_EQ(line_at(table, 0x1007), "a.mlu:1");
  CHECK_EQ(line_at(table, 0x1008), "a.mlu:2");
  CHECK_EQ(line_at(table, 0x1017), "a.mlu:2");
  CHECK_EQ(line_at(table, 0x1018), "a.mlu:3");
  CHECK_EQ(line_at(table, 0x101b), "a.mlu:3");
  CHECK_EQ(line_at(table, 0x101c), "nothing");
}

TEST(sequences_and_units_in_any_order) {
  Writer first, second;
  first.address(0x8100).line(9).row().advance(8).end().address(0x1100).line(19).row().advance(8).end();
  second.address(0x1000).line(29).row().advance(8).end();
  const LineTable table = table_of(unit({4, false, 1}, first).all(unit({5, false, 1}, second)));
  CHECK_EQ(line_at(table, 0x8104), "a.mlu:10");
  CHECK_EQ(line_at(table, 0x1107), "a.mlu:20");
  CHECK_EQ(line_at(table, 0x1000), "a.mlu:30");
  CHECK_EQ(line_at(table, 0x1008), "nothing");
}

TEST(of_rows_at_one_address_the_last_counts) {
  Writer code;
  code.address(0x1000).row().line(4).row().advance(4).end();
  CHECK_EQ(line_at(table_of(unit({}, code)), 0x1000), "a.mlu:5");
}

TEST(line_zero_is_the_line_before) {
  Writer code;
  code.address(0x1000).line(-1).row().advance(4).line(7).row().advance(4).line(-7).row().advance(4).end();
  const LineTable table = table_of(unit({}, code));
  CHECK_EQ(line_at(table, 0x1000), "nothing");
  CHECK_EQ(line_at(table, 0x1004), "a.mlu:7");
  CHECK_EQ(line_at(table, 0x1008), "a.mlu:7");
}

TEST(dropped_functions_hide_nothing) {
  Writer code;
  code.row().advance(127).end();                           // at 0
  code.address(0x3000).row().advance(8).end();             // outside of the code
  code.address(0x1010).row().address(0x1008).row().end();  // not ascending
  code.address(0x1020).row().address(0x1018).end();        // ends before it begins
  code.address(0x1000).line(2).row().advance(64).end();
  code.address(0x1050).row();  // without an end
  const LineTable table = table_of(unit({}, code));
  for (const unsigned address : {0x0u, 0x10u, 0x3000u, 0x1050u}) CHECK_EQ(line_at(table, address), "nothing");
  for (const unsigned address : {0x1000u, 0x1008u, 0x1010u, 0x103fu}) CHECK_EQ(line_at(table, address), "a.mlu:3");
}

TEST(dropped_functions_hide_nothing_in_code_from_address_0_on) {
  Writer code;
  code.line(9).row().advance(127).end();
  code.address(0x10).row().advance(8).end();
  LineTable table;
  table.decode(sections_with(unit({}, code)), {{0, 0x1000}});
  CHECK_EQ(line_at(table, 0x8), "nothing");
  CHECK_EQ(line_at(table, 0x10), "a.mlu:1");
}

TEST(unknown_files_have_no_lines) {
  Writer code;
  code.address(0x1000).file(9).row().advance(4).file(0).row().advance(4).end();
  CHECK_EQ(line_at(table_of(unit({4, false, 1}, code)), 0x1000), "nothing");
  CHECK_EQ(line_at(table_of(unit({4, false, 1}, code)), 0x1004), "nothing");
  CHECK_EQ(line_at(table_of(unit({5, false, 1}, code)), 0x1004), "a.mlu:1");  // counted from 0 there
}

TEST(a_unit_that_cannot_be_read_is_left_out) {
  Writer good, bad;
  good.address(0x1000).row().advance(8).end();
  bad.address(0x1000).line(9).row().advance(8).end();
  for (const int version : {0, 1, 6, 0xffff}) {
    const Writer damaged = unit({version, false, 1}, bad);
    Writer before = damaged;
    CHECK_EQ(line_at(table_of(before.all(unit({4, false, 1}, good))), 0x1000), "a.mlu:1");
    CHECK_EQ(line_at(table_of(unit({4, false, 1}, good).all(damaged)), 0x1000), "a.mlu:1");
  }
}

// ---- Broken tables ----

TEST(a_list_of_countless_nothings) {
  Writer header;
  header.byte(1).byte(1).byte(1).byte(0).byte(1).byte(1).byte(0);  // no kinds of values
  for (int i = 0; i < 9; ++i) header.byte(0xff);
  header.byte(0x01);  // but 2^64 - 1 directories
  Writer body, whole;
  body.number(5, 2).byte(8).byte(0).number(header.bytes.size(), 4).all(header);
  look_everywhere(table_of(whole.number(body.bytes.size(), 4).all(body)));
}

TEST(tables_that_end_anywhere) {
  Writer code;
  code.address(0x1000).line(9).row().byte(static_cast<std::uint64_t>(special(4, 2))).file(2).advance(8).row().end();
  for (const int version : {2, 4, 5}) {
    const Bytes whole = unit({version, version == 5, 1}, code).bytes;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      Writer cut;
      cut.bytes.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      look_everywhere(table_of(cut));
    }
  }
}

TEST(tables_with_any_byte_changed) {
  Writer code;
  code.address(0x1000).line(9).row().byte(static_cast<std::uint64_t>(special(4, 2))).file(2).advance(8).row().end();
  std::mt19937 random(1);
  for (const int version : {3, 4, 5}) {
    const Writer whole = unit({version, false, 1}, code).all(unit({version, false, 1}, code));
    for (std::size_t at = 0; at < whole.bytes.size(); ++at) {
      for (const unsigned value : {0u, 1u, 0x7fu, 0x80u, 0xffu, static_cast<unsigned>(random())}) {
        Writer changed = whole;
        changed.bytes[at] = static_cast<unsigned char>(value);
        look_everywhere(table_of(changed));
      }
    }
  }
}

TEST(tables_of_random_bytes) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    Writer noise;
    for (std::size_t i = 0; i < 8 + random() % 200; ++i) noise.byte(random());
    look_everywhere(table_of(unit({2 + round % 4, round % 8 >= 4, 1}, noise)));
    noise.bytes[4] = static_cast<unsigned char>(2 + round % 4);
    look_everywhere(table_of(noise));
  }
}

int main(int count, char **arguments) { return harness::run_all(count, arguments); }
