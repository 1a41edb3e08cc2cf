// The cases of benches/speed/cases.rs on ns-3 (Debian: libns3-dev), without tracing, logs or packet metadata.
// Usage: speed 1|20|100 SECONDS
// Prints "outcome PACKETS CPU_SECONDS EVENTS RSS_KB"; the time excludes start-up.
//
// Differences from the other simulators: connections begin with a handshake, and PPP adds 2 bytes to each packet. Recovery
// is RFC 6675's, with ns-3's scoreboard; ours and ns-2's here use Fall & Floyd's counter.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"

#include <fstream>
#include <iostream>
#include <map>
#include <string>

using namespace ns3;

namespace
{

constexpr uint32_t MSS = 1460;
constexpr uint32_t WINDOW = 500 * MSS;
constexpr uint16_t PORT = 9;

struct Case
{
    uint32_t flows;
    const char* accessRate;
    const char* accessDelay;
    const char* sharedRate;
    const char* sharedDelay;
    uint32_t queue; // packets, the one in transmission included
};

const std::map<std::string, Case> CASES = {
    {"1", {1, "10Mbps", "0ms", "5Mbps", "50ms", 65}},
    {"20", {20, "100Mbps", "5ms", "10Mbps", "20ms", 100}},
    {"100", {100, "100Mbps", "5ms", "100Mbps", "20ms", 500}},
};

double
CpuSeconds()
{
    double ns = 0;
    std::ifstream("/proc/self/schedstat") >> ns;
    return ns / 1e9;
}

double
PeakRssKb()
{
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
    {
        if (word == "VmHWM:")
        {
            double kb = 0;
            status >> kb;
            return kb;
        }
    }
    return 0;
}

/// The scenario's TCP: SACK, windows of 500 segments, an initial one of 1, an ACK for every second segment or after 200 ms.
void
SetTcp()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(MSS));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(WINDOW));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(WINDOW));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
}

/// A link between `a` and `b` in a subnet of its own, `queue` packets and one in transmission; no queue above the device's.
Ipv4Address
Connect(Ptr<Node> a, Ptr<Node> b, const char* rate, const char* delay, uint32_t queue, Ipv4AddressHelper& subnets)
{
    PointToPointHelper link;
    link.DisableFlowControl();
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queue)));
    const auto ends = subnets.Assign(link.Install(a, b));
    subnets.NewNetwork();
    return ends.GetAddress(1);
}

} // namespace

int
main(int argc, char* argv[])
{
    const auto found = argc == 3 ? CASES.find(argv[1]) : CASES.end();
    if (found == CASES.end())
    {
        std::cerr << "usage: speed 1|20|100 SECONDS\n";
        return 1;
    }
    const Case& c = found->second;
    const Time end = Seconds(std::stod(argv[2]));
    SetTcp();

    NodeContainer routers(2);
    NodeContainer senders(c.flows);
    NodeContainer receivers(c.flows);
    // Its caches return immediately; a table of routes would be searched from end to end for each packet.
    InternetStackHelper internet;
    internet.SetRoutingHelper(Ipv4NixVectorHelper());
    internet.InstallAll();
    Ipv4AddressHelper subnets("10.0.0.0", "255.255.255.252");
    Connect(routers.Get(0), routers.Get(1), c.sharedRate, c.sharedDelay, c.queue - 1, subnets);

    ApplicationContainer sinks;
    for (uint32_t i = 0; i < c.flows; ++i)
    {
        Connect(senders.Get(i), routers.Get(0), c.accessRate, c.accessDelay, 1000, subnets);
        const auto to = Connect(routers.Get(1), receivers.Get(i), c.accessRate, c.accessDelay, 1000, subnets);
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(to, PORT));
        bulk.SetAttribute("SendSize", UintegerValue(MSS));
        bulk.Install(senders.Get(i)).Start(MilliSeconds(13 * i));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
        sinks.Add(sink.Install(receivers.Get(i)));
    }

    Simulator::Stop(end);
    const double before = CpuSeconds();
    Simulator::Run();
    const double taken = CpuSeconds() - before;
    uint64_t packets = 0;
    for (uint32_t i = 0; i < c.flows; ++i)
    {
        packets += DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx() / MSS;
    }
    std::cout << "outcome " << packets << ' ' << taken << ' ' << Simulator::GetEventCount() << ' ' << PeakRssKb() << '\n';
    Simulator::Destroy();
    return 0;
}
