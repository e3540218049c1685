/// core/devices.h: several devices (SIMT_DEVICES), each with memory of its own.
///
/// While a kernel runs on one device, the memory of the others is inaccessible, as far
/// as peer access was not enabled: an access ends the launch with words.
#pragma once

#include <cstdint>

namespace simt::detail {

constexpr int kMostDevices = 16;

/// How many devices there are: 1 unless others were asked for.
int device_count();
inline bool is_device(int device) {
    return device >= 0 && device < device_count();
}

/// The calling host thread's device.
int current_device();
void set_current_device(int device);

/// The calling thread works for another device while this lives: queued work, graphs.
class OnDevice {
 public:
    explicit OnDevice(int device);
    ~OnDevice();
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

 private:
    int before_;
};
/// True while an OnDevice lives: nobody has just now chosen the device.
bool device_is_borrowed();

/// Whether kernels on `device` may access the memory of `peer`, and changing that.
bool has_peer_access(int device, int peer);
void set_peer_access(int device, int peer, bool allowed);
/// No device may access any other's memory, nor another one that of `device`.
void forget_peer_access(int device);

/// Makes other devices' memory inaccessible while it lives, if there are any.
class HiddenPeers {
 public:
    explicit HiddenPeers(int device);
    ~HiddenPeers();
    HiddenPeers(const HiddenPeers&) = delete;
    HiddenPeers& operator=(const HiddenPeers&) = delete;

 private:
    bool active_;
};

/// A host thread has met hidden memory: waits until it can be accessed again. False if
/// it is not that.
bool wait_for_hidden(const void* address);

}  // namespace simt::detail
