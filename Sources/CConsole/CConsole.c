// Written by Scripts/console/generate.py.
#include "CConsole.h"

// C23 has #embed, and this compiler in all its modes.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char file0[] = {
#embed "web/app/api.js"
};

static const unsigned char file1[] = {
#embed "web/app/areas.js"
};

static const unsigned char file2[] = {
#embed "web/app/areas/conflicts.js"
};

static const unsigned char file3[] = {
#embed "web/app/areas/documents.js"
};

static const unsigned char file4[] = {
#embed "web/app/areas/frame.js"
};

static const unsigned char file5[] = {
#embed "web/app/areas/play.js"
};

static const unsigned char file6[] = {
#embed "web/app/areas/server.js"
};

static const unsigned char file7[] = {
#embed "web/app/areas/start.js"
};

static const unsigned char file8[] = {
#embed "web/app/asset.js"
};

static const unsigned char file9[] = {
#embed "web/app/design/document.js"
};

static const unsigned char file10[] = {
#embed "web/app/design/trial.js"
};

static const unsigned char file11[] = {
#embed "web/app/documents/attachments.js"
};

static const unsigned char file12[] = {
#embed "web/app/documents/bulk.js"
};

static const unsigned char file13[] = {
#embed "web/app/documents/clash.js"
};

static const unsigned char file14[] = {
#embed "web/app/documents/editor.js"
};

static const unsigned char file15[] = {
#embed "web/app/documents/indexes.js"
};

static const unsigned char file16[] = {
#embed "web/app/documents/permissions.js"
};

static const unsigned char file17[] = {
#embed "web/app/documents/plans.js"
};

static const unsigned char file18[] = {
#embed "web/app/documents/query-history.js"
};

static const unsigned char file19[] = {
#embed "web/app/documents/query-results.js"
};

static const unsigned char file20[] = {
#embed "web/app/documents/reading.js"
};

static const unsigned char file21[] = {
#embed "web/app/documents/revisions.js"
};

static const unsigned char file22[] = {
#embed "web/app/documents/search.js"
};

static const unsigned char file23[] = {
#embed "web/app/documents/selection.js"
};

static const unsigned char file24[] = {
#embed "web/app/documents/sight.js"
};

static const unsigned char file25[] = {
#embed "web/app/documents/view-rows.js"
};

static const unsigned char file26[] = {
#embed "web/app/documents/writing.js"
};

static const unsigned char file27[] = {
#embed "web/app/files/download.js"
};

static const unsigned char file28[] = {
#embed "web/app/files/exporting.js"
};

static const unsigned char file29[] = {
#embed "web/app/files/sending.js"
};

static const unsigned char file30[] = {
#embed "web/app/main.js"
};

static const unsigned char file31[] = {
#embed "web/app/names.js"
};

static const unsigned char file32[] = {
#embed "web/app/pages/activity.js"
};

static const unsigned char file33[] = {
#embed "web/app/pages/changes.js"
};

static const unsigned char file34[] = {
#embed "web/app/pages/compare.js"
};

static const unsigned char file35[] = {
#embed "web/app/pages/conflict.js"
};

static const unsigned char file36[] = {
#embed "web/app/pages/conflicts.js"
};

static const unsigned char file37[] = {
#embed "web/app/pages/databases.js"
};

static const unsigned char file38[] = {
#embed "web/app/pages/design.js"
};

static const unsigned char file39[] = {
#embed "web/app/pages/doc.js"
};

static const unsigned char file40[] = {
#embed "web/app/pages/docs.js"
};

static const unsigned char file41[] = {
#embed "web/app/pages/files.js"
};

static const unsigned char file42[] = {
#embed "web/app/pages/journal.js"
};

static const unsigned char file43[] = {
#embed "web/app/pages/log.js"
};

static const unsigned char file44[] = {
#embed "web/app/pages/login.js"
};

static const unsigned char file45[] = {
#embed "web/app/pages/missing.js"
};

static const unsigned char file46[] = {
#embed "web/app/pages/play.js"
};

static const unsigned char file47[] = {
#embed "web/app/pages/query.js"
};

static const unsigned char file48[] = {
#embed "web/app/pages/replicate.js"
};

static const unsigned char file49[] = {
#embed "web/app/pages/replication.js"
};

static const unsigned char file50[] = {
#embed "web/app/pages/replications.js"
};

static const unsigned char file51[] = {
#embed "web/app/pages/rights.js"
};

static const unsigned char file52[] = {
#embed "web/app/pages/server.js"
};

static const unsigned char file53[] = {
#embed "web/app/pages/settle.js"
};

static const unsigned char file54[] = {
#embed "web/app/pages/upkeep.js"
};

static const unsigned char file55[] = {
#embed "web/app/pages/users.js"
};

static const unsigned char file56[] = {
#embed "web/app/pages/view.js"
};

static const unsigned char file57[] = {
#embed "web/app/parts/code-area.js"
};

static const unsigned char file58[] = {
#embed "web/app/parts/code-colours.js"
};

static const unsigned char file59[] = {
#embed "web/app/parts/command-panel.js"
};

static const unsigned char file60[] = {
#embed "web/app/parts/command.js"
};

static const unsigned char file61[] = {
#embed "web/app/parts/database-switch.js"
};

static const unsigned char file62[] = {
#embed "web/app/parts/dom.js"
};

static const unsigned char file63[] = {
#embed "web/app/parts/effect-view.js"
};

static const unsigned char file64[] = {
#embed "web/app/parts/key-list.js"
};

static const unsigned char file65[] = {
#embed "web/app/parts/keys.js"
};

static const unsigned char file66[] = {
#embed "web/app/parts/line-table.js"
};

static const unsigned char file67[] = {
#embed "web/app/parts/member-table.js"
};

static const unsigned char file68[] = {
#embed "web/app/parts/origins.js"
};

static const unsigned char file69[] = {
#embed "web/app/parts/palette.js"
};

static const unsigned char file70[] = {
#embed "web/app/parts/panel.js"
};

static const unsigned char file71[] = {
#embed "web/app/parts/place-sheet.js"
};

static const unsigned char file72[] = {
#embed "web/app/parts/plot.js"
};

static const unsigned char file73[] = {
#embed "web/app/parts/policy-form.js"
};

static const unsigned char file74[] = {
#embed "web/app/parts/rev-tree.js"
};

static const unsigned char file75[] = {
#embed "web/app/parts/sheet.js"
};

static const unsigned char file76[] = {
#embed "web/app/parts/spark-line.js"
};

static const unsigned char file77[] = {
#embed "web/app/play/conflict.js"
};

static const unsigned char file78[] = {
#embed "web/app/play/databases.js"
};

static const unsigned char file79[] = {
#embed "web/app/play/device.js"
};

static const unsigned char file80[] = {
#embed "web/app/replications/actions.js"
};

static const unsigned char file81[] = {
#embed "web/app/replications/side.js"
};

static const unsigned char file82[] = {
#embed "web/app/replications/stored.js"
};

static const unsigned char file83[] = {
#embed "web/app/router.js"
};

static const unsigned char file84[] = {
#embed "web/app/session.js"
};

static const unsigned char file85[] = {
#embed "web/app/texts/de.js"
};

static const unsigned char file86[] = {
#embed "web/app/texts/en.js"
};

static const unsigned char file87[] = {
#embed "web/app/users/administrators.js"
};

static const unsigned char file88[] = {
#embed "web/app/users/password.js"
};

static const unsigned char file89[] = {
#embed "web/app/value/compare.js"
};

static const unsigned char file90[] = {
#embed "web/app/value/json-text.js"
};

static const unsigned char file91[] = {
#embed "web/app/value/json.js"
};

static const unsigned char file92[] = {
#embed "web/app/value/lines.js"
};

static const unsigned char file93[] = {
#embed "web/app/words.js"
};

static const unsigned char file94[] = {
#embed "web/components.css"
};

static const unsigned char file95[] = {
#embed "web/icons.svg"
};

static const unsigned char file96[] = {
#embed "web/index.html"
};

static const unsigned char file97[] = {
#embed "web/palette.css"
};

static const unsigned char file98[] = {
#embed "web/play.css"
};

static const unsigned char file99[] = {
#embed "web/tokens.css"
};

static const settle_console_file files[] = {
    {"app/api.js", file0, sizeof file0},
    {"app/areas.js", file1, sizeof file1},
    {"app/areas/conflicts.js", file2, sizeof file2},
    {"app/areas/documents.js", file3, sizeof file3},
    {"app/areas/frame.js", file4, sizeof file4},
    {"app/areas/play.js", file5, sizeof file5},
    {"app/areas/server.js", file6, sizeof file6},
    {"app/areas/start.js", file7, sizeof file7},
    {"app/asset.js", file8, sizeof file8},
    {"app/design/document.js", file9, sizeof file9},
    {"app/design/trial.js", file10, sizeof file10},
    {"app/documents/attachments.js", file11, sizeof file11},
    {"app/documents/bulk.js", file12, sizeof file12},
    {"app/documents/clash.js", file13, sizeof file13},
    {"app/documents/editor.js", file14, sizeof file14},
    {"app/documents/indexes.js", file15, sizeof file15},
    {"app/documents/permissions.js", file16, sizeof file16},
    {"app/documents/plans.js", file17, sizeof file17},
    {"app/documents/query-history.js", file18, sizeof file18},
    {"app/documents/query-results.js", file19, sizeof file19},
    {"app/documents/reading.js", file20, sizeof file20},
    {"app/documents/revisions.js", file21, sizeof file21},
    {"app/documents/search.js", file22, sizeof file22},
    {"app/documents/selection.js", file23, sizeof file23},
    {"app/documents/sight.js", file24, sizeof file24},
    {"app/documents/view-rows.js", file25, sizeof file25},
    {"app/documents/writing.js", file26, sizeof file26},
    {"app/files/download.js", file27, sizeof file27},
    {"app/files/exporting.js", file28, sizeof file28},
    {"app/files/sending.js", file29, sizeof file29},
    {"app/main.js", file30, sizeof file30},
    {"app/names.js", file31, sizeof file31},
    {"app/pages/activity.js", file32, sizeof file32},
    {"app/pages/changes.js", file33, sizeof file33},
    {"app/pages/compare.js", file34, sizeof file34},
    {"app/pages/conflict.js", file35, sizeof file35},
    {"app/pages/conflicts.js", file36, sizeof file36},
    {"app/pages/databases.js", file37, sizeof file37},
    {"app/pages/design.js", file38, sizeof file38},
    {"app/pages/doc.js", file39, sizeof file39},
    {"app/pages/docs.js", file40, sizeof file40},
    {"app/pages/files.js", file41, sizeof file41},
    {"app/pages/journal.js", file42, sizeof file42},
    {"app/pages/log.js", file43, sizeof file43},
    {"app/pages/login.js", file44, sizeof file44},
    {"app/pages/missing.js", file45, sizeof file45},
    {"app/pages/play.js", file46, sizeof file46},
    {"app/pages/query.js", file47, sizeof file47},
    {"app/pages/replicate.js", file48, sizeof file48},
    {"app/pages/replication.js", file49, sizeof file49},
    {"app/pages/replications.js", file50, sizeof file50},
    {"app/pages/rights.js", file51, sizeof file51},
    {"app/pages/server.js", file52, sizeof file52},
    {"app/pages/settle.js", file53, sizeof file53},
    {"app/pages/upkeep.js", file54, sizeof file54},
    {"app/pages/users.js", file55, sizeof file55},
    {"app/pages/view.js", file56, sizeof file56},
    {"app/parts/code-area.js", file57, sizeof file57},
    {"app/parts/code-colours.js", file58, sizeof file58},
    {"app/parts/command-panel.js", file59, sizeof file59},
    {"app/parts/command.js", file60, sizeof file60},
    {"app/parts/database-switch.js", file61, sizeof file61},
    {"app/parts/dom.js", file62, sizeof file62},
    {"app/parts/effect-view.js", file63, sizeof file63},
    {"app/parts/key-list.js", file64, sizeof file64},
    {"app/parts/keys.js", file65, sizeof file65},
    {"app/parts/line-table.js", file66, sizeof file66},
    {"app/parts/member-table.js", file67, sizeof file67},
    {"app/parts/origins.js", file68, sizeof file68},
    {"app/parts/palette.js", file69, sizeof file69},
    {"app/parts/panel.js", file70, sizeof file70},
    {"app/parts/place-sheet.js", file71, sizeof file71},
    {"app/parts/plot.js", file72, sizeof file72},
    {"app/parts/policy-form.js", file73, sizeof file73},
    {"app/parts/rev-tree.js", file74, sizeof file74},
    {"app/parts/sheet.js", file75, sizeof file75},
    {"app/parts/spark-line.js", file76, sizeof file76},
    {"app/play/conflict.js", file77, sizeof file77},
    {"app/play/databases.js", file78, sizeof file78},
    {"app/play/device.js", file79, sizeof file79},
    {"app/replications/actions.js", file80, sizeof file80},
    {"app/replications/side.js", file81, sizeof file81},
    {"app/replications/stored.js", file82, sizeof file82},
    {"app/router.js", file83, sizeof file83},
    {"app/session.js", file84, sizeof file84},
    {"app/texts/de.js", file85, sizeof file85},
    {"app/texts/en.js", file86, sizeof file86},
    {"app/users/administrators.js", file87, sizeof file87},
    {"app/users/password.js", file88, sizeof file88},
    {"app/value/compare.js", file89, sizeof file89},
    {"app/value/json-text.js", file90, sizeof file90},
    {"app/value/json.js", file91, sizeof file91},
    {"app/value/lines.js", file92, sizeof file92},
    {"app/words.js", file93, sizeof file93},
    {"components.css", file94, sizeof file94},
    {"icons.svg", file95, sizeof file95},
    {"index.html", file96, sizeof file96},
    {"palette.css", file97, sizeof file97},
    {"play.css", file98, sizeof file98},
    {"tokens.css", file99, sizeof file99},
};

size_t settle_console_count(void) { return sizeof files / sizeof files[0]; }

const settle_console_file *settle_console_at(size_t place) { return &files[place]; }
