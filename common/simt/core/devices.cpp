#include "devices.h"

#include <sched.h>

#include <atomic>
#include <utility>

#include "memory.h"
#include "options.h"

namespace simt::detail {
namespace {

thread_local int t_device = 0;
thread_local int t_borrowed = 0;

// Bit p of g_peers[d]: kernels on device d may access the memory of device p.
std::atomic<uint32_t> g_peers[kMostDevices];
std::atomic<bool> g_hidden{false};

// An instruction that faults so often in a row is not waiting for anybody.
constexpr int kMostTries = 1000;

}  // namespace

int device_count() {
    return options().devices;
}

int current_device() {
    return t_device < device_count() ? t_device : 0;
}

void set_current_device(int device) {
    t_device = device;
}

OnDevice::OnDevice(int device) : before_(std::exchange(t_device, device)) {
    ++t_borrowed;
}

OnDevice::~OnDevice() {
    t_device = before_;
    --t_borrowed;
}

bool device_is_borrowed() {
    return t_borrowed != 0;
}

bool has_peer_access(int device, int peer) {
    return device == peer || (g_peers[device] >> peer & 1) != 0;
}

void set_peer_access(int device, int peer, bool allowed) {
    if (allowed)
        g_peers[device] |= 1u << peer;
    else
        g_peers[device] &= ~(1u << peer);
}

void forget_peer_access(int device) {
    g_peers[device] = 0;
    for (std::atomic<uint32_t>& peers : g_peers)
        peers &= ~(1u << device);
}

HiddenPeers::HiddenPeers(int device) : active_(device_count() > 1) {
    if (!active_) return;
    g_hidden = true;
    hide_peer_memory(device);
}

HiddenPeers::~HiddenPeers() {
    if (!active_) return;
    show_all_memory();
    g_hidden = false;
}

bool wait_for_hidden(const void* address) {
    if (device_count() == 1 || !in_device_range(address)) return false;
    static thread_local const void* last = nullptr;
    static thread_local int tries = 0;
    if (address != last) last = address, tries = 0;
    while (g_hidden)
        sched_yield();
    return ++tries < kMostTries;
}

}  // namespace simt::detail
