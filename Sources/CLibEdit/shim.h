// libedit, and typed doors to what it has as variadic functions, which Swift can't call.

#ifndef SETTLE_CLIBEDIT_SHIM_H
#define SETTLE_CLIBEDIT_SHIM_H

#include <histedit.h>
#include <locale.h>
#include <stddef.h>
#include <stdio.h>

typedef char *(*settle_edit_prompt)(EditLine *editor);
typedef unsigned char (*settle_edit_command)(EditLine *editor, int key);

// An editor of lines at the terminal of standard input and output, whose Tab key runs `complete`; NULL if it can't be edited.
static inline EditLine *settle_edit_begin(void *context, settle_edit_prompt prompt, settle_edit_command complete) {
    EditLine *editor = el_init("settle", stdin, stdout, stderr);
    if (editor == NULL) return NULL;
    el_set(editor, EL_CLIENTDATA, context);
    el_set(editor, EL_PROMPT, prompt);
    el_set(editor, EL_SIGNAL, 1);
    el_set(editor, EL_EDITOR, "emacs");
    el_set(editor, EL_ADDFN, "settle-complete", "Completes the word", complete);
    el_set(editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_source(editor, NULL);
    el_set(editor, EL_BIND, "^I", "settle-complete", NULL);
    return editor;
}

// What settle_edit_begin was given.
static inline void *settle_edit_context(EditLine *editor) {
    void *context = NULL;
    return el_get(editor, EL_CLIENTDATA, &context) == 0 ? context : NULL;
}

// A history of so many lines, for the editor's arrow keys; NULL without memory.
static inline History *settle_edit_history(EditLine *editor, int size) {
    HistEvent event;
    History *lines = history_init();
    if (lines == NULL) return NULL;
    history(lines, &event, H_SETSIZE, size);
    history(lines, &event, H_SETUNIQUE, 1);
    el_set(editor, EL_HIST, history, lines);
    return lines;
}

static inline void settle_history_add(History *lines, const char *line) {
    HistEvent event;
    history(lines, &event, H_ENTER, line);
}

#endif
