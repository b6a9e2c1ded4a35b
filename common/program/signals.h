// SPDX-License-Identifier: BSD-3-Clause
// Signals that end a program, and signals that it ignores.
#pragma once

namespace turnpike {

/// Call first in main(), so that signals are handled while EAL starts, too. TERM, INT and HUP ask
/// the program to end; a third one ends it at once, with the signal as its status. HUP stays
/// ignored if it was ignored before (nohup). Calls ignore_signals().
void handle_signals();

/// Ignores PIPE, USR1, USR2 and XFSZ: a closed output or a file at its limit does not end a run.
void ignore_signals();

/// From now on HUP asks for a reload, not for the end.
void reload_on_hup();
/// Whether HUP has come since the last call, after reload_on_hup().
bool take_reload_request();

/// Whether the process ignores the signal.
bool is_ignored(int number);

/// Number of signals that have asked the program to end. From 1 on the run ends; from 2 on it ends
/// without waiting for queues or peers.
int end_requests();

/// Name of the first such signal, such as "SIGTERM"; "" if there was none.
const char* end_signal();

}  // namespace turnpike
