// Written by Scripts/console/generate.py.
// The sources, web:  SHA-256 b0cec9a52fbcde97b68bee8109795139ec6bc814be193c930491059933bd18f5
// Made of them, built: SHA-256 bf36a8318525fd65e0179aaa4214e9150909ceba1d867319c5efab78a2a0e516
#include "CConsole.h"

// C23 has #embed, and this compiler in all its modes.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char file0[] = {
#embed "built/app/common.js"
};

static const unsigned char file1[] = {
#embed "built/app/conflicts.js"
};

static const unsigned char file2[] = {
#embed "built/app/de.js"
};

static const unsigned char file3[] = {
#embed "built/app/documents.js"
};

static const unsigned char file4[] = {
#embed "built/app/en.js"
};

static const unsigned char file5[] = {
#embed "built/app/frame.js"
};

static const unsigned char file6[] = {
#embed "built/app/main.js"
};

static const unsigned char file7[] = {
#embed "built/app/play.js"
};

static const unsigned char file8[] = {
#embed "built/app/server.js"
};

static const unsigned char file9[] = {
#embed "built/app/shared.js"
};

static const unsigned char file10[] = {
#embed "built/components.css"
};

static const unsigned char file11[] = {
#embed "built/icons.svg"
};

static const unsigned char file12[] = {
#embed "built/index.html"
};

static const unsigned char file13[] = {
#embed "built/palette.css"
};

static const unsigned char file14[] = {
#embed "built/play.css"
};

static const unsigned char file15[] = {
#embed "built/tokens.css"
};

static const settle_console_file files[] = {
    {"app/common.js", file0, sizeof file0},
    {"app/conflicts.js", file1, sizeof file1},
    {"app/de.js", file2, sizeof file2},
    {"app/documents.js", file3, sizeof file3},
    {"app/en.js", file4, sizeof file4},
    {"app/frame.js", file5, sizeof file5},
    {"app/main.js", file6, sizeof file6},
    {"app/play.js", file7, sizeof file7},
    {"app/server.js", file8, sizeof file8},
    {"app/shared.js", file9, sizeof file9},
    {"components.css", file10, sizeof file10},
    {"icons.svg", file11, sizeof file11},
    {"index.html", file12, sizeof file12},
    {"palette.css", file13, sizeof file13},
    {"play.css", file14, sizeof file14},
    {"tokens.css", file15, sizeof file15},
};

size_t settle_console_count(void) { return sizeof files / sizeof files[0]; }

const settle_console_file *settle_console_at(size_t place) { return &files[place]; }
