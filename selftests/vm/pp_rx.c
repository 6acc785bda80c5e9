// SPDX-License-Identifier: GPL-2.0
/*
 * pp_rx: a page_pool for the receiving end of a device that has none. What the
 * device receives is copied into pages of the pool, as veth with an XDP program
 * does in kernels that have that. Only for tests of kernels that have not.
 *
 * Write the name of a device of your network namespace to /dev/pp_rx. The open
 * file then owns the pool. Closing it destroys the pool, and so does the end of
 * the device.
 */
#include <linux/etherdevice.h>
#include <linux/if.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/rtnetlink.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#if __has_include(<net/page_pool/helpers.h>)
#include <net/page_pool/helpers.h>
#else
#include <net/page_pool.h>
#endif

#define PP_RX_HEADROOM	(NET_SKB_PAD + NET_IP_ALIGN)

struct pp_rx {
	struct net_device *dev;	/* NULL before and after it is attached */
	struct page_pool *pool;	/* stays when it is destroyed, to be used once */
	spinlock_t lock;	/* only one may take pages at a time */
};

static struct sk_buff *pp_rx_copy(struct pp_rx *rx, const struct sk_buff *skb)
{
	struct sk_buff *copy;
	struct page *page;

	spin_lock(&rx->lock);
	page = page_pool_alloc_pages(rx->pool, GFP_ATOMIC | __GFP_NOWARN);
	spin_unlock(&rx->lock);
	if (!page)
		return NULL;

	copy = build_skb(page_address(page), PAGE_SIZE);
	if (!copy) {
		page_pool_put_full_page(rx->pool, page, false);
		return NULL;
	}
	skb_mark_for_recycle(copy);
	skb_reserve(copy, PP_RX_HEADROOM);
	skb_put_data(copy, skb_mac_header(skb), ETH_HLEN);
	skb_copy_bits(skb, 0, skb_put(copy, skb->len), skb->len);
	copy->protocol = eth_type_trans(copy, skb->dev);
	skb_reset_network_header(copy);
	skb_reset_transport_header(copy);
	skb_reset_mac_len(copy);
	/* The other end of a veth pair leaves the checksum to be done. */
	copy->ip_summed = CHECKSUM_UNNECESSARY;
	return copy;
}

static rx_handler_result_t pp_rx_receive(struct sk_buff **pskb)
{
	struct sk_buff *copy, *skb = *pskb;
	struct pp_rx *rx = rcu_dereference(skb->dev->rx_handler_data);

	if (PP_RX_HEADROOM + ETH_HLEN + skb->len > SKB_WITH_OVERHEAD(PAGE_SIZE))
		return RX_HANDLER_PASS;

	copy = pp_rx_copy(rx, skb);
	if (copy) {
		consume_skb(skb);
		*pskb = copy;
	}
	return RX_HANDLER_PASS;
}

static int pp_rx_attach(struct pp_rx *rx, const char *name)
{
	struct page_pool_params params = {
		.pool_size = 64,
		.nid = NUMA_NO_NODE,
	};
	struct page_pool *pool;
	struct net_device *dev;
	int error;

	ASSERT_RTNL();
	if (rx->pool)
		return -EBUSY;
	dev = __dev_get_by_name(current->nsproxy->net_ns, name);
	if (!dev)
		return -ENODEV;
	/* Its name; nothing is mapped for it. veth does the same. */
	params.dev = &dev->dev;
	pool = page_pool_create(&params);
	if (IS_ERR(pool))
		return PTR_ERR(pool);

	rx->pool = pool;
	error = netdev_rx_handler_register(dev, pp_rx_receive, rx);
	if (error) {
		rx->pool = NULL;
		page_pool_destroy(pool);
		return error;
	}
	rx->dev = dev;
	return 0;
}

static void pp_rx_detach(struct pp_rx *rx)
{
	ASSERT_RTNL();
	if (!rx->dev)
		return;
	/* Waits until nobody is in pp_rx_receive() any more. */
	netdev_rx_handler_unregister(rx->dev);
	rx->dev = NULL;
	page_pool_destroy(rx->pool);
}

static int pp_rx_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	if (event == NETDEV_UNREGISTER &&
	    rtnl_dereference(dev->rx_handler) == pp_rx_receive)
		pp_rx_detach(rtnl_dereference(dev->rx_handler_data));
	return NOTIFY_DONE;
}

static struct notifier_block pp_rx_notifier = {
	.notifier_call = pp_rx_event,
};

static int pp_rx_open(struct inode *inode, struct file *file)
{
	struct pp_rx *rx = kzalloc(sizeof(*rx), GFP_KERNEL);

	if (!rx)
		return -ENOMEM;
	spin_lock_init(&rx->lock);
	file->private_data = rx;
	return 0;
}

static ssize_t pp_rx_write(struct file *file, const char __user *from,
			   size_t size, loff_t *pos)
{
	char name[IFNAMSIZ] = {};
	int error;

	if (size >= sizeof(name))
		return -EINVAL;
	if (copy_from_user(name, from, size))
		return -EFAULT;
	rtnl_lock();
	error = pp_rx_attach(file->private_data, name);
	rtnl_unlock();
	return error ?: size;
}

static int pp_rx_release(struct inode *inode, struct file *file)
{
	rtnl_lock();
	pp_rx_detach(file->private_data);
	rtnl_unlock();
	kfree(file->private_data);
	return 0;
}

static const struct file_operations pp_rx_operations = {
	.owner = THIS_MODULE,
	.open = pp_rx_open,
	.write = pp_rx_write,
	.release = pp_rx_release,
};

static struct miscdevice pp_rx_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "pp_rx",
	.fops = &pp_rx_operations,
	.mode = 0600,
};

static int __init pp_rx_init(void)
{
	int error = register_netdevice_notifier(&pp_rx_notifier);

	if (error)
		return error;
	error = misc_register(&pp_rx_device);
	if (error)
		unregister_netdevice_notifier(&pp_rx_notifier);
	return error;
}

static void __exit pp_rx_exit(void)
{
	misc_deregister(&pp_rx_device);
	unregister_netdevice_notifier(&pp_rx_notifier);
}

module_init(pp_rx_init);
module_exit(pp_rx_exit);
MODULE_DESCRIPTION("page_pool for the receiving end of any device, for tests");
MODULE_LICENSE("GPL");
