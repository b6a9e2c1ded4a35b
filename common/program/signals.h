// SPDX-License-Identifier: BSD-3-Clause
// The signals that end a program, and those that it ignores.
#pragma once

namespace turnpike {

/// First thing in main(), so that a signal finds a handler while EAL starts, too. TERM, INT and HUP
/// ask the program to end; a third of them ends it at once, with the signal as its status. HUP that
/// was ignored before (nohup) stays ignored, and ignore_signals() is called.
void handle_signals();

/// Ignores PIPE, USR1 and USR2: a closed output ends no run.
void ignore_signals();

bool is_ignored(int number);

/// How many signals have asked the program to end: from the first on the run ends, from the second
/// on nothing is waited for.
int end_requests();

/// "SIGTERM" and the like: the signal that asked first; "" where none did.
const char* end_signal();

}  // namespace turnpike
